// Rounds of the gambler's ruin bandit problem, walked step by step as fast as one core can.
//
// Every slot of every round is one draw of its own and every round is decided anew, but nothing
// is wasted on it: xoshiro256++ kept in registers, Bernoulli draws by comparing whole numbers,
// few branches that nobody can foresee, logarithms and roots out of tables, no division where
// a product will do, normal numbers by the ziggurat. It walks one replica at a time: vector
// instructions that walk several side by side are not used.
//
// cpp_steps.py compiles this file and says what the arguments are.

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using i64 = std::int64_t;
using u64 = std::uint64_t;
using u128 = unsigned __int128;

constexpr double UNIT = 0x1p-53;

// xoshiro256++ (Blackman and Vigna 2021), its state filled by SplitMix64.
class Random {
    u64 a, b, c, d;

    static u64 split(u64 &x) {
        u64 z = x += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    static u64 turn(u64 x, int k) { return (x << k) | (x >> (64 - k)); }

  public:
    Random(u64 seed, u64 replica) {
        u64 x = split(seed) ^ (replica * 0xd1342543de82ef95);
        a = split(x), b = split(x), c = split(x), d = split(x);
    }

    u64 next() {
        const u64 answer = turn(a + d, 23) + a, t = b << 17;
        c ^= a, d ^= b, b ^= c, a ^= d, c ^= t, d = turn(d, 45);
        return answer;
    }

    // From [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * UNIT; }

    // From 0 to n - 1 (with a bias below n 2^-64).
    i64 below(i64 n) { return static_cast<i64>((static_cast<u128>(next()) * n) >> 64); }

    bool happens(u64 chance) { return next() < chance; }
};

// A probability as a whole number: a draw of 64 bits is below it that often.
u64 chance(double p) { return p >= 1.0 ? ~u64{0} : static_cast<u64>(std::ldexp(p, 64)); }

struct World {
    i64 goal;
    u64 up, finish;
};

// What happened in one round or in many.
struct Totals {
    i64 c = 0, c_up = 0, f = 0, f_goal = 0;
};

// One round with threshold 0 or 1, added to the totals.
//
// States are counted from the lowest that continues, so that one comparison sees both ends. A
// branch that nobody can foresee costs more than a few draws: so the first slots are walked
// without one, standing still once the walk has ended, and whether FINISH succeeds is drawn
// also where nobody takes it.
template <int threshold> inline void walk(Random &random, const World &world, Totals &n) {
    constexpr int unbranched = threshold == 0 ? 3 : 2;
    const u64 ends = static_cast<u64>(world.goal - 1 - threshold);
    const u64 first = static_cast<u64>(random.below(world.goal - 1)) - threshold;
    u64 at = first, slots = 0;
#pragma GCC unroll 4
    for (int k = 0; k < unbranched; ++k) {
        const u64 walking = at < ends;
        at += walking * (2 * static_cast<u64>(random.happens(world.up)) - 1);
        slots += walking;
    }
    while (at < ends) {
        at += 2 * static_cast<u64>(random.happens(world.up)) - 1;
        ++slots;
    }
    n.c += static_cast<i64>(slots);
    n.c_up += static_cast<i64>((slots + at - first) / 2);
    if (threshold == 1) {
        const i64 finished = at != ends;
        n.f += finished;
        n.f_goal += finished & static_cast<i64>(random.happens(world.finish));
    }
}

// 1 + r + ... + r^(n-1), by doubling.
inline double odds_sum(double r, i64 n) {
    double total = 1.0, power = r;
    for (i64 bit = i64{1} << (62 - __builtin_clzll(n)); bit > 0; bit >>= 1) {
        total *= 1.0 + power, power *= power;
        if (n & bit) total = 1.0 + r * total, power *= r;
    }
    return total;
}

// Standard normal numbers: the ziggurat of 256 layers (Marsaglia and Tsang 2000).
class Ziggurat {
    static constexpr double EDGE = 3.6541528853610088, AREA = 0.00492867323399;
    double width[256], height[257];
    u64 inside[256];

    double rare(Random &random, u64 bits, int layer) const {
        const double sign = bits & 256 ? -1.0 : 1.0;
        if (layer == 0) {
            double x, y;
            do {
                x = -std::log(1.0 - random.uniform()) / EDGE;
                y = -std::log(1.0 - random.uniform());
            } while (2.0 * y < x * x);
            return sign * (EDGE + x);
        }
        const double x = static_cast<double>(bits >> 11) * width[layer];
        const double y = height[layer] + random.uniform() * (height[layer + 1] - height[layer]);
        return y < std::exp(-0.5 * x * x) ? sign * x : (*this)(random);
    }

  public:
    Ziggurat() {
        double x[257];
        x[0] = AREA / std::exp(-0.5 * EDGE * EDGE), x[1] = EDGE, x[256] = 0.0;
        for (int i = 2; i < 256; ++i) {
            const double above = AREA / x[i - 1] + std::exp(-0.5 * x[i - 1] * x[i - 1]);
            x[i] = std::sqrt(-2.0 * std::log(above));
        }
        for (int i = 0; i < 256; ++i) {
            width[i] = x[i] * UNIT;
            inside[i] = static_cast<u64>(x[i + 1] / x[i] / UNIT);
        }
        for (int i = 0; i < 257; ++i) height[i] = std::exp(-0.5 * x[i] * x[i]);
    }

    double operator()(Random &random) const {
        const u64 bits = random.next(), where = bits >> 11;
        const int layer = static_cast<int>(bits & 255);
        if (__builtin_expect(where >= inside[layer], 0)) return rare(random, bits, layer);
        const double x = static_cast<double>(where) * width[layer];
        return bits & 256 ? -x : x;
    }
};

const Ziggurat normal;

// A draw from the Gamma distribution of a shape of at least 1 (Marsaglia and Tsang 2000).
inline double gamma_draw(Random &random, double shape) {
    const double d = shape - 1.0 / 3.0, scale = 1.0 / std::sqrt(9.0 * d);
    for (;;) {
        const double x = normal(random), root = 1.0 + scale * x;
        if (__builtin_expect(root <= 0.0, 0)) continue;
        const double v = root * root * root, u = 1.0 - random.uniform(), square = x * x;
        if (__builtin_expect(u < 1.0 - 0.0331 * square * square, 1)) return d * v;
        if (std::log(u) < 0.5 * square + d * (1.0 - v + std::log(v))) return d * v;
    }
}

// 1/n, 1/sqrt(n) and sqrt(2 log n), looked up as long as n is not large.
class Tables {
    static constexpr i64 SIZE = 1 << 15;
    struct Entry {
        double inverse, root;
    };
    std::vector<Entry> entry;
    std::vector<double> spread_;

  public:
    Tables() : entry(SIZE), spread_(SIZE) {
        for (i64 n = 1; n < SIZE; ++n) {
            entry[n] = {1.0 / n, 1.0 / std::sqrt(n)};
            spread_[n] = std::sqrt(2.0 * std::log(n));
        }
    }

    double inverse(i64 n) const { return n < SIZE ? entry[n].inverse : 1.0 / n; }
    double root(i64 n) const { return n < SIZE ? entry[n].root : 1.0 / std::sqrt(n); }
    double spread(i64 n) const { return n < SIZE ? spread_[n] : std::sqrt(2.0 * std::log(n)); }
};

const Tables table;

enum Choice { NEVER, IN_STATE_1, AT_ONCE };

struct SampleMean {
    const i64 *forced; // the first round in which FINISH is forced, by how often it was tried
    i64 tries;         // as often as this, and it is forced no more

    Choice operator()(i64 goal, i64 rho, const Totals &n, double f_goal, double up,
                      Random &) const {
        const double down = static_cast<double>(n.c) - up;
        if (f_goal * odds_sum(down / up, goal) >= static_cast<double>(n.f)) return IN_STATE_1;
        return n.f < tries && rho >= forced[n.f] ? AT_ONCE : NEVER;
    }
};

struct UpperConfidence {
    Choice operator()(i64 goal, i64, const Totals &n, double f_goal, double up,
                      Random &) const {
        const double spread = table.spread(n.f + n.c);
        const double p_f = f_goal * table.inverse(n.f) + spread * table.root(n.f);
        const double p_c = up * table.inverse(n.c) + spread * table.root(n.c);
        if (p_f >= 1.0) return IN_STATE_1;
        if (p_c >= 1.0) return NEVER;
        return p_f * odds_sum((1.0 - p_c) / p_c, goal) >= 1.0 ? IN_STATE_1 : NEVER;
    }
};

struct PosteriorSampling {
    Choice operator()(i64 goal, i64, const Totals &n, double f_goal, double up,
                      Random &random) const {
        const double goals = gamma_draw(random, 1.0 + f_goal);
        const double ends = gamma_draw(random, 1.0 + static_cast<double>(n.f) - f_goal);
        const double ups = gamma_draw(random, 1.0 + up);
        const double downs = gamma_draw(random, 1.0 + static_cast<double>(n.c) - up);
        return goals * odds_sum(downs / ups, goal) >= goals + ends ? IN_STATE_1 : NEVER;
    }
};

struct Experiment {
    i64 goal;
    double p_c, p_f;
    i64 replicas, looks;
    const i64 *look;
    const double *price;
    const i64 *forced;
    i64 tries;
    u64 seed;
    double *regret;
};

template <class Decide> void play(const Experiment &work, const Decide decide) {
    const World world{work.goal, chance(work.p_c), chance(work.p_f)};
    for (i64 replica = 0; replica < work.replicas; ++replica) {
        Random random(work.seed, replica);
        const double f_goal = random.uniform(), up = random.uniform();
        Totals n{1, 0, 1, 0};
        i64 rho = 0, once = 0, at_once = 0;
        for (i64 k = 0; k < work.looks; ++k) {
            while (rho < work.look[k]) {
                ++rho;
                switch (decide(world.goal, rho, n, f_goal + n.f_goal, up + n.c_up, random)) {
                case NEVER:
                    walk<0>(random, world, n);
                    break;
                case IN_STATE_1:
                    walk<1>(random, world, n);
                    ++once;
                    break;
                case AT_ONCE:
                    ++n.f;
                    n.f_goal += random.happens(world.finish);
                    ++at_once;
                }
            }
            work.regret[replica * work.looks + k] = work.price[0] * (rho - once - at_once) +
                                                    work.price[1] * once + work.price[2] * at_once;
        }
    }
}

} // namespace

extern "C" {

void getbe_sm(const Experiment *work) { play(*work, SampleMean{work->forced, work->tries}); }
void getbe_ucb(const Experiment *work) { play(*work, UpperConfidence{}); }
void getbe_ps(const Experiment *work) { play(*work, PosteriorSampling{}); }

// CONTINUE taken in some rounds with threshold 0, which are walked with nobody learning.
i64 walk_rounds(i64 goal, double p_c, i64 rounds, u64 seed) {
    const World world{goal, chance(p_c), 0};
    Random random(seed, 0);
    Totals n;
    for (i64 k = 0; k < rounds; ++k) walk<0>(random, world, n);
    return n.c;
}
}
