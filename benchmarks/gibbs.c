/* Gibbs sampling in C, the straightforward fast way: the peer that sampling.py compiles.

   A unit turns +1 where its field exceeds t = T/2 log(u / (1 - u)).  Thresholds are drawn for many updates at once, so
   that the compiler runs eight generators and eight logarithms side by side.  Dense machines keep the fields of a
   block of chains and change them where a unit flips; sparse ones sum the few neighbours anew.
   Blackman and Vigna (2021), Scrambled linear pseudorandom number generators, ACM TOMS 47 (xoshiro256+). */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#define LANES 8
#define BATCH 512

typedef struct { uint64_t a[LANES], b[LANES], c[LANES], d[LANES]; } Streams;

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static void begin(Streams *r, uint64_t seed)
{
    for (int l = 0; l < LANES; l++) {
        r->a[l] = splitmix(&seed); r->b[l] = splitmix(&seed); r->c[l] = splitmix(&seed); r->d[l] = splitmix(&seed);
    }
}

static void thresholds(Streams *r, double half_temperature, double *t, long count)    /* count: a multiple of LANES */
{
    for (long k = 0; k < count; k += LANES)
        for (int l = 0; l < LANES; l++) {
            uint64_t bits = r->a[l] + r->d[l], old = r->b[l] << 17;
            r->c[l] ^= r->a[l]; r->d[l] ^= r->b[l]; r->b[l] ^= r->c[l]; r->a[l] ^= r->d[l];
            r->c[l] ^= old; r->d[l] = (r->d[l] << 45) | (r->d[l] >> 19);
            t[k + l] = ((bits >> 12) + 0.5) * 0x1p-52;
        }
    for (long k = 0; k < count; k++)
        t[k] = half_temperature * log(t[k] / (1 - t[k]));
}

/* weights (n, p), fields (chains, p), s (chains, n); p: n rounded up to a multiple of LANES, rows aligned. */
void dense(long n, long p, long chains, long together, long sweeps, double temperature, uint64_t seed,
           const double *restrict weights, double *restrict fields, double *restrict s)
{
    Streams r;
    begin(&r, seed);
    double *t = aligned_alloc(64, (BATCH + n * together + LANES) * sizeof(double));
    long *flips = malloc((together + 1) * sizeof(long));
    for (long first = 0; first < chains; first += together) {
        long size = chains - first < together ? chains - first : together;
        double *h = fields + first * p, *state = s + first * n;
        for (long sweep = 0; sweep < sweeps; sweep++) {
            thresholds(&r, temperature / 2, t, (n * size + LANES - 1) / LANES * LANES);
            for (long i = 0; i < n; i++) {
                const double *w = __builtin_assume_aligned(weights + i * p, 64);
                long flipped = 0;
                for (long c = 0; c < size; c++) {
                    double new = h[c * p + i] > t[i * size + c] ? 1 : -1;
                    flips[flipped] = c;
                    flipped += new != state[c * n + i];
                    state[c * n + i] = new;
                }
                for (long f = 0; f < flipped; f++) {
                    double *field = __builtin_assume_aligned(h + flips[f] * p, 64), step = 2 * state[flips[f] * n + i];
                    for (long j = 0; j < p; j++)
                        field[j] += step * w[j];
                }
            }
        }
    }
    free(t);
    free(flips);
}

/* Compressed rows (pointers, columns, values), s (n, chains). */
void sparse(long n, long chains, long sweeps, double temperature, uint64_t seed, const int *restrict pointers,
            const int *restrict columns, const double *restrict values, const double *restrict biases,
            int8_t *restrict s)
{
    Streams r;
    begin(&r, seed);
    long rows = chains < BATCH ? BATCH / chains : 1;
    double *t = aligned_alloc(64, (rows * chains + LANES) * sizeof(double)), *h = malloc(chains * sizeof(double));
    for (long sweep = 0; sweep < sweeps; sweep++)
        for (long i = 0; i < n; i++) {
            if (i % rows == 0)
                thresholds(&r, temperature / 2, t, (rows * chains + LANES - 1) / LANES * LANES);
            const double *line = t + i % rows * chains;
            for (long c = 0; c < chains; c++)
                h[c] = biases[i];
            for (int e = pointers[i]; e < pointers[i + 1]; e++) {
                const int8_t *other = s + columns[e] * chains;
                for (long c = 0; c < chains; c++)
                    h[c] += values[e] * other[c];
            }
            for (long c = 0; c < chains; c++)
                s[i * chains + c] = h[c] > line[c] ? 1 : -1;
        }
    free(t);
    free(h);
}
