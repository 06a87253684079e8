// GETBE-SM drawn whole on a GPU, written by hand, and what bounds it from above: the random words
// alone, and the random words with the draw from the tables. gpu.py compiles and calls it.
//
// The tables, the words and the decisions are those of the package, to the last bit: compile it
// with -fmad=false, so that products and sums are rounded as the package rounds them.

#include <cstdint>
#include <cstdio>

#include <cuda_runtime.h>

#define BOTH __host__ __device__ __forceinline__

typedef unsigned long long Word;  // what CUDA's vectors and atomics call a word of 64 bits

constexpr int GOAL = 4;
constexpr int COLUMNS = 3;              // thresholds 0, 1 and GOAL - 1
constexpr int SUMS = 9;                 // three totals and six products
constexpr int MOST_CELLS = 384;         // of all columns together, in the memory of a block
constexpr Word STEP = 0x9E3779B97F4A7C15ull;

struct Work {
    int64_t problems, replicas, rounds, cells;  // cells: of one threshold, in the largest table
    const Word* tables;     // [problem, column, cell, 4], as Tables.cells
    const int64_t* shifts;  // [problem]
    const double* chances;  // [problem, 2]: p_c and p_f
    const Word* keys;       // [problem, 2]: of the worlds and of the first estimates
    const int* due;         // [round + 2]: FINISH is forced if it was taken fewer times
};

// What does not change while a kernel runs has a quicker way to be read.
template <class T>
BOTH T read(const T* where) {
#ifdef __CUDA_ARCH__
    return __ldg(where);
#else
    return *where;
#endif
}

// Random words.

BOTH Word splitmix64(Word x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

BOTH Word fold_in(Word key, Word index) { return splitmix64(key + index * STEP); }

BOTH double uniform(Word key, Word index) {
    return static_cast<double>(fold_in(key, index + 1) >> 11) * 0x1p-53;
}

// Rounds.

struct Round {
    unsigned c, up, f, f_goal, open;
    int stands;
};

// A table as the package has it: four words a cell, in two loads of 128 bits.
struct AsStored {
    const ulonglong2* cells;
    int bits, size;

    BOTH Round draw(int column, Word key) const {
        const ulonglong2* cell = cells + 2 * (column * size + static_cast<int>(key >> (64 - bits)));
        const ulonglong2 a = read(cell), b = read(cell + 1);
        const bool first = (key << bits) < a.x;
        const Word word = first ? a.y : b.x;
        const unsigned place = static_cast<unsigned>(b.y) >> (first ? 8 : 24);
        const unsigned low = static_cast<unsigned>(word), high = static_cast<unsigned>(word >> 32);
        return {low & 0x1FFFF,  static_cast<unsigned>(word >> 17) & 0x1FFFF, high >> 2 & 1,
                high >> 11 & 1, high >> 31, static_cast<int>(place & 0xFF)};
    }
};

// Two words a cell, read at once: the last key of its first round, and both rounds.
struct alignas(16) Cell {
    Word last, rounds;
};

// The bits of a round: c, up, where it stands if it is open, open, f_goal, f.
BOTH Word pack(Word word, Word place) {
    return (word & 0x1FF) | (word >> 17 & 0x1FF) << 9 | (place >> 8 & 0x1F) << 18
           | (word >> 63) << 29 | (word >> 43 & 1) << 30 | (word >> 34 & 1) << 31;
}

BOTH Cell pack_cell(const Word* cell, Word index, int shift) {
    const Word first = pack(cell[1], cell[3]), second = pack(cell[2], cell[3] >> 16);
    const Word begin = index << shift, full = (1ull << shift) - 1;
    if (cell[0] == 0) return {begin + full, second | second << 32};
    const Word last = cell[0] == ~0ull ? full : (cell[0] >> (64 - shift)) - 1;
    return {begin + last, first | second << 32};
}

struct Packed {
    const Cell* cells;
    unsigned here;  // where they are in the memory of a block
    int bits;

    BOTH unsigned word(int column, Word key) const {
        const unsigned at = static_cast<unsigned>(column) << bits;
        const unsigned cell = at + (static_cast<unsigned>(key >> 32) >> (32 - bits));
        Word last, rounds;
#ifdef __CUDA_ARCH__
        // As C++, it becomes two loads.
        asm volatile("ld.shared.v2.u64 {%0, %1}, [%2];"
                     : "=l"(last), "=l"(rounds)
                     : "r"(here + 16 * cell));
#else
        last = cells[cell].last;
        rounds = cells[cell].rounds;
#endif
        return static_cast<unsigned>(key <= last ? rounds : rounds >> 32);
    }

    BOTH Round draw(int column, Word key) const {
        const unsigned one = word(column, key);
        return {one & 0x1FF, one >> 9 & 0x1FF, one >> 31, one >> 30 & 1, one & 1 << 29,
                static_cast<int>(one >> 18 & 0x1F)};
    }
};

// Walk a round that outlasts its table to its end.
BOTH void walk_on(Round& one, int threshold, Word key, double p_c, double p_f) {
    int state = one.stands;
    Word slot = 0;
    for (; threshold < state && state < GOAL; ++slot) {
        const bool rises = uniform(key, slot) < p_c;
        state += rises ? 1 : -1;
        one.up += rises;
        ++one.c;
    }
    one.f = 0 < state && state < GOAL;
    one.f_goal = one.f != 0 && uniform(key, slot) < p_f;
}

// A whole number below 2^32 as a double: quicker than the conversion, which GPUs do slowly.
BOTH double real(unsigned whole) {
#ifdef __CUDA_ARCH__
    return __hiloint2double(0x43300000, static_cast<int>(whole)) - 0x1p52;
#else
    return whole;
#endif
}

// The learner: what it counts, and whether FINISH in state 1 is right by its estimates.

BOTH bool finish_is_right(double won, double tried, double up, double down) {
    const double r = down / up;  // GOAL is 4
    return !(up > 0.0) | (won * ((1.0 + r) * (1.0 + r * r)) >= tried * (1.0 - 1e-14));
}

// The same operations as the package's, in the same order.
struct Same {
    double won, up;
    unsigned c = 1, f = 1;

    BOTH Same(double f_goal, double c_up) : won(f_goal), up(c_up) {}

    BOTH void add(const Round& one) {
        f += one.f;
        c += one.c;
        won += one.f_goal ? 1.0 : 0.0;
        up += real(one.up);
    }

    BOTH bool right() const { return finish_is_right(won, real(f), up, real(c) - up); }
};

// The same decisions by a shorter way: without a division, in single precision, where that is far
// from a tie; else as above.
struct Shortcut {
    double won, up;
    float first_won, first_up;
    unsigned c = 1, f = 1, all_won = 0, all_up = 0;

    BOTH Shortcut(double f_goal, double c_up)
        : won(f_goal), up(c_up), first_won(static_cast<float>(f_goal)),
          first_up(static_cast<float>(c_up)) {}

    BOTH void add(const Round& one) {
        f += one.f;
        all_won += one.f_goal;
        c += one.c;
        all_up += one.up;
        won += one.f_goal ? 1.0 : 0.0;
        up += real(one.up);
    }

    BOTH bool right() const {
        const float won_ = first_won + static_cast<float>(all_won);
        const float up_ = first_up + static_cast<float>(all_up), c_ = static_cast<float>(c);
        const float down_ = c_ - up_;
        const float left = won_ * c_ * (up_ * up_ + down_ * down_);
        const float wanted = static_cast<float>(f) * up_ * (up_ * up_);
        // A dozen roundings of 6e-8 each; the sums of products are positive.
        const float margin = 4e-6f * wanted;
        if (left > wanted + margin) return true;
        if (left < wanted - margin) return false;
        return finish_is_right(won, real(f), up, real(c) - up);
    }
};

struct Counts {
    int plays[COLUMNS];
};

template <class Learner, class Table>
BOTH Counts play(const Work& work, int64_t problem, Word replica, const Table& table) {
    const double p_c = work.chances[2 * problem], p_f = work.chances[2 * problem + 1];
    Word counter = fold_in(work.keys[2 * problem], replica);
    const Word opening = fold_in(work.keys[2 * problem + 1], replica);
    Learner learner(uniform(opening, 0), uniform(opening, 1));
    const int rounds = static_cast<int>(work.rounds);
    int plays_1 = 0, plays_2 = 0;
    const int* due = work.due + 1;
    unsigned forced_below = read(due);
    for (int rho = 1; rho <= rounds; ++rho) {
        const unsigned next = read(++due);  // long before it is needed
        const bool right = learner.right(), forced = !right & (learner.f < forced_below);
        plays_1 += right;
        plays_2 += forced;
        counter += STEP;
        const Word key = splitmix64(counter);
        Round one = table.draw(right ? 1 : forced ? 2 : 0, key);
        if (one.open) walk_on(one, right ? 1 : forced ? GOAL - 1 : 0, key, p_c, p_f);
        learner.add(one);
        forced_below = next;
    }
    return {{rounds - plays_1 - plays_2, plays_1, plays_2}};
}

BOTH void products(const Counts& counts, int64_t* sums) {
    int next = COLUMNS;
    for (int i = 0; i < COLUMNS; ++i) {
        sums[i] = counts.plays[i];
        for (int j = i; j < COLUMNS; ++j) {
            sums[next++] = static_cast<int64_t>(counts.plays[i]) * counts.plays[j];
        }
    }
}

// The kernels: a block has replicas of one problem.

__device__ __forceinline__ void add_up(const int64_t* own, int count, Word* sums) {
    for (int k = 0; k < count; ++k) {
        Word sum = static_cast<Word>(own[k]);
        for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
        if (threadIdx.x % 32 == 0) atomicAdd(sums + k, sum);
    }
}

__device__ __forceinline__ Packed packed_here(const Work& work, int problem, Cell* room) {
    const int shift = static_cast<int>(work.shifts[problem]), size = 1 << (64 - shift);
    const Word* table = work.tables + 4 * COLUMNS * work.cells * problem;
    for (int k = threadIdx.x; k < COLUMNS * size; k += blockDim.x) {
        const int column = k / size, cell = k % size;
        room[k] = pack_cell(table + 4 * (column * work.cells + cell), cell, shift);
    }
    __syncthreads();
    unsigned here = static_cast<unsigned>(__cvta_generic_to_shared(room));
    asm volatile("" : "+r"(here));  // so that it is kept, not found anew in every round
    return {room, here, 64 - shift};
}

__device__ __forceinline__ AsStored as_stored(const Work& work, int problem) {
    const Word* table = work.tables + 4 * COLUMNS * work.cells * problem;
    return {reinterpret_cast<const ulonglong2*>(table),
            64 - static_cast<int>(work.shifts[problem]), static_cast<int>(work.cells)};
}

template <class Learner, bool PACKED, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS) by_hand(const Work work, Word* sums) {
    __shared__ Cell room[PACKED ? MOST_CELLS : 1];
    const int problem = blockIdx.y;
    const int64_t replica = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    int64_t own[SUMS] = {};
    if constexpr (PACKED) {
        const Packed table = packed_here(work, problem, room);
        if (replica < work.replicas) products(play<Learner>(work, problem, replica, table), own);
    } else {
        const AsStored table = as_stored(work, problem);
        if (replica < work.replicas) products(play<Learner>(work, problem, replica, table), own);
    }
    add_up(own, SUMS, sums + SUMS * problem);
}

// 0: the words alone; 1: with a draw from the tables as stored; 2: from packed ones.
template <int TABLE, int THREADS>
__global__ void __launch_bounds__(THREADS) limit(const Work work, Word* sums) {
    __shared__ Cell room[TABLE == 2 ? MOST_CELLS : 1];
    const int problem = blockIdx.y, rounds = static_cast<int>(work.rounds);
    const int64_t replica = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    Packed packed{};
    AsStored stored{};
    if constexpr (TABLE == 2) packed = packed_here(work, problem, room);
    if constexpr (TABLE == 1) stored = as_stored(work, problem);
    Word counter = fold_in(work.keys[2 * problem], replica), sum = 0;
    const int last = replica < work.replicas ? rounds : 0;
    for (int rho = 1; rho <= last; ++rho) {
        counter += STEP;
        const Word key = splitmix64(counter);
        if constexpr (TABLE == 0) {
            sum += key;
        } else if constexpr (TABLE == 1) {
            const Round one = stored.draw(rho & 1, key);
            sum += one.c + one.up + one.f + one.f_goal + one.open;
        } else {
            sum += packed.word(rho & 1, key);
        }
    }
    const int64_t own[1] = {static_cast<int64_t>(sum)};
    add_up(own, 1, sums + SUMS * problem);
}

// What gpu.py calls.

typedef void (*Kernel)(Work, Word*);

struct Entry {
    const char* name;
    Kernel kernel;
    int threads;
};

static const Entry ENTRIES[] = {
    {"words: 256 threads", limit<0, 256>, 256},
    {"words: 512 threads", limit<0, 512>, 512},
    {"stored draws: 256 threads", limit<1, 256>, 256},
    {"packed draws: 256 threads", limit<2, 256>, 256},
    {"packed draws: 512 threads", limit<2, 512>, 512},
    {"same: cells as stored, 256 threads", by_hand<Same, false, 256, 1>, 256},
    {"same: packed cells, 128 threads", by_hand<Same, true, 128, 1>, 128},
    {"same: packed cells, 256 threads", by_hand<Same, true, 256, 1>, 256},
    {"same: packed cells, 256 threads, 6 blocks", by_hand<Same, true, 256, 6>, 256},
    {"same: packed cells, 256 threads, 8 blocks", by_hand<Same, true, 256, 8>, 256},
    {"shortcut: packed cells, 128 threads", by_hand<Shortcut, true, 128, 1>, 128},
    {"shortcut: packed cells, 256 threads", by_hand<Shortcut, true, 256, 1>, 256},
    {"shortcut: packed cells, 256 threads, 8 blocks", by_hand<Shortcut, true, 256, 8>, 256},
};

constexpr int COUNT = sizeof(ENTRIES) / sizeof(ENTRIES[0]);

#define TRY(call)                                                                        \
    do {                                                                                 \
        const cudaError_t error = (call);                                                \
        if (error != cudaSuccess) {                                                      \
            std::snprintf(message, 200, "%s: %s", #call, cudaGetErrorString(error));     \
            return 1;                                                                    \
        }                                                                                \
    } while (0)

struct Device {  // what is allocated, and freed again at the end
    void* held[8] = {};
    int count = 0;

    cudaError_t copy(const void* from, size_t bytes, const void** to) {
        cudaError_t error = cudaMalloc(&held[count], bytes);
        if (error != cudaSuccess) return error;
        *to = held[count++];
        return from == nullptr ? cudaMemset(const_cast<void*>(*to), 0, bytes)
                               : cudaMemcpy(const_cast<void*>(*to), from, bytes,
                                            cudaMemcpyHostToDevice);
    }

    template <class T>
    cudaError_t copy(const T*& array, size_t length) {
        const void* there = nullptr;
        const cudaError_t error = copy(array, length * sizeof(T), &there);
        array = static_cast<const T*>(there);
        return error;
    }

    ~Device() {
        while (count > 0) cudaFree(held[--count]);
    }
};

extern "C" int kernels() { return COUNT; }

extern "C" const char* kernel_name(int which) { return ENTRIES[which].name; }

// The shortest of some times in milliseconds, of the kernel alone; and the sums, [problem, SUMS].
extern "C" int measure(const Work* given, int which, int passes, float* best, Word* sums,
                       char* message) {
    if (which < 0 || which >= COUNT || given->rounds > 0x7FFFFFFF
        || COLUMNS * given->cells > MOST_CELLS) {
        std::snprintf(message, 200, "there is no such kernel, or too many rounds or cells");
        return 1;
    }
    const Entry& entry = ENTRIES[which];
    Work work = *given;
    Device device;
    const size_t size = static_cast<size_t>(work.problems);
    const Word* zeros = nullptr;
    TRY(device.copy(work.tables, size * COLUMNS * 4 * static_cast<size_t>(work.cells)));
    TRY(device.copy(work.shifts, size));
    TRY(device.copy(work.chances, 2 * size));
    TRY(device.copy(work.keys, 2 * size));
    TRY(device.copy(work.due, static_cast<size_t>(work.rounds) + 2));
    TRY(device.copy(zeros, size * SUMS));
    Word* there = const_cast<Word*>(zeros);
    const dim3 grid(static_cast<unsigned>((work.replicas + entry.threads - 1) / entry.threads),
                    static_cast<unsigned>(work.problems));
    cudaEvent_t begin, end;
    TRY(cudaEventCreate(&begin));
    TRY(cudaEventCreate(&end));
    *best = -1.0f;
    for (int pass = 0; pass <= passes; ++pass) {  // the first time is not taken
        TRY(cudaMemset(there, 0, size * SUMS * sizeof(Word)));
        TRY(cudaEventRecord(begin));
        entry.kernel<<<grid, static_cast<unsigned>(entry.threads)>>>(work, there);
        TRY(cudaGetLastError());
        TRY(cudaEventRecord(end));
        TRY(cudaEventSynchronize(end));
        float took = 0.0f;
        TRY(cudaEventElapsedTime(&took, begin, end));
        if (pass > 0 && (*best < 0.0f || took < *best)) *best = took;
    }
    TRY(cudaEventDestroy(begin));
    TRY(cudaEventDestroy(end));
    TRY(cudaMemcpy(sums, there, size * SUMS * sizeof(Word), cudaMemcpyDeviceToHost));
    return 0;
}

// The plays of some replicas, [problem, replica, column], on the CPU: to check what is written here
// where there is no GPU. Way 0: cells as stored; 1: packed; 2: packed, with the shortcut.
extern "C" void play_here(const Work* work, int way, int* plays) {
    Cell room[MOST_CELLS];
    for (int64_t problem = 0; problem < work->problems; ++problem) {
        const int shift = static_cast<int>(work->shifts[problem]), size = 1 << (64 - shift);
        const Word* table = work->tables + 4 * COLUMNS * work->cells * problem;
        for (int k = 0; k < COLUMNS * size; ++k) {
            const int column = k / size, cell = k % size;
            room[k] = pack_cell(table + 4 * (column * work->cells + cell), cell, shift);
        }
        const Packed packed{room, 0, 64 - shift};
        const AsStored stored{reinterpret_cast<const ulonglong2*>(table), 64 - shift,
                              static_cast<int>(work->cells)};
        for (int64_t r = 0; r < work->replicas; ++r) {
            const Counts counts = way == 0   ? play<Same>(*work, problem, r, stored)
                                  : way == 1 ? play<Same>(*work, problem, r, packed)
                                             : play<Shortcut>(*work, problem, r, packed);
            for (int k = 0; k < COLUMNS; ++k) *plays++ = counts.plays[k];
        }
    }
}
