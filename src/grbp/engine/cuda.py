"""Play many replicas of many problems on a GPU: the same kernels, the same streams, whole sums.

A block of threads plays one problem, and a thread one replica of it, asking the learner in every
round. The functions are those that the CPU runs, and so are the keys and the tables, so that the
decisions are the same: whole numbers, tables and + - * / are the same on both to the last bit.
The logarithm and the exponential of the two may differ in their last digit; where a decision
hangs by it, it may differ, and its law does not.

All that is about CUDA is in this file. Numba-cuda compiles for it; its simulator serves the tests.
"""

import functools
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from itertools import zip_longest
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from grbp.engine.batch_plan import FOREVER
from grbp.engine.decisions import check_first_decision, decisions, zeros
from grbp.engine.recorder import StepLaw, first_counters
from grbp.engine.round_table import (
    CUT,
    FIRST,
    PLACES,
    SECOND,
    TABLE_GOAL,
    WORD_MASK,
    make_tables,
    walk_on,
)
from grbp.errors import InvalidInput, MissingExtra, how_to_install
from grbp.learners.base import AnyLearner, Decide
from grbp.learners.counters import (
    Counters,
    Round,
    Totals,
    add_to,
    as_totals,
    play,
)
from grbp.numerics.arrays import Floats, Ints, Words
from grbp.numerics.fingerprint import Fingerprint, is_own
from grbp.numerics.jit import KERNELS, Compiler, i64, inlined, numba, reason, u64
from grbp.numerics.rng import (
    LEARNER,
    OPENING,
    STEP,
    WORLD,
    fold_in,
    purpose_key,
    splitmix64,
    uniform,
)
from grbp.worlds.problem import Problem
from grbp.worlds.transition import first_state

CudaEngine: TypeAlias = Literal["walk", "draw"]
"""How a GPU plays rounds: step by step, or drawn whole."""

THREADS: Final = 256
"""The threads of a block."""

BLOCKS: Final = 4
"""The blocks for whose registers a multiprocessor has room; what is spilled is used seldom."""

GROUP: Final = 32
"""The replicas of a block that one thread adds up."""

SHARED: Final = 48 * 1024
"""The bytes of a block's own memory; tables for which it has no room stay where they are."""

MOST_CHOICES: Final = 32
"""The most thresholds of a learner: a block has room for their counts."""

MOST_ROUNDS: Final = 2**30
"""The most rounds of a replica: counts of 32 bits are quicker, and do not overflow."""

_PROBLEMS: Final = 2**12
_BYTES: Final = 2**28
"""The most problems of a launch, and the bytes of their tables, about."""

_REPLICAS: Final = 2**30
"""The most replicas of a launch."""

_LARGEST: Final = 2**63 - 1
"""The largest sum."""


@contextmanager
def _numpy_of_its_time() -> Iterator[None]:
    """Give numba-cuda 0.30 the name that it asks NumPy for, which is gone in NumPy 2.5."""
    numpy: Any = np
    lacks = not hasattr(numpy, "row_stack")
    if lacks:
        numpy.row_stack = numpy.vstack
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        if lacks:
            del numpy.row_stack


def _numba_cuda() -> tuple[Any, str]:
    """Import numba-cuda; return it, or None and what is wrong with it."""
    if numba() is None:
        return None, "Numba is not installed"
    try:
        with _numpy_of_its_time():
            module = import_module("numba.cuda")
            # Numba has a part of that name, too, which is older.
            if getattr(module, "implementation", "") == "NVIDIA":
                import_module("numba.cuda.np.arrayobj")
                return module, ""
    except ImportError:
        pass
    except Exception as error:  # It looks for libraries of CUDA, and each has its own way to fail.
        return None, f"numba-cuda cannot be loaded ({reason(error).rstrip('.')})"
    return None, "numba-cuda is not installed"


_FOUND: Final = _numba_cuda()
cuda: Final[Any] = _FOUND[0]
"""Numba-cuda; its simulator takes the place of this name while a kernel runs."""

MISSING: Final[str] = _FOUND[1]
"""What is wrong with numba-cuda, where it cannot be used."""


class PackedTables(NamedTuple):
    """The tables of some problems' rounds, in a form of their own for GPUs.

    Attributes
    ----------
    sizes : ndarray, shape (problems, 2)
        64 less the number of bits that choose a cell, and the cells of one threshold.
    words : ndarray, shape (problems, thresholds * cells * 2)
        For each cell the last key of its first round, and its two rounds, of 32 bits each (see
        `_pack_rounds`).
    """

    sizes: Ints
    words: Words


class StartTables(NamedTuple):
    """The start tables of some problems, each padded with its last state to one length."""

    states: Ints
    cumulative: Floats


_SIMULATED: Final = cuda is not None and bool(cuda.config.ENABLE_CUDASIM)
_WORD: Final = np.dtype(np.uint64)
"""The type of what a block copies; the simulator wants it so."""

_STANDS, _F, _F_GOAL, _WON, _OPEN, _C_UP = 9, 16, 17, 18, 19, 22
"""The bits of a round of 31 bits: 9 of c, 4 of where it stands, flags, 9 of c_up."""


def _pack_rounds(words: Words, places: Words) -> Words:
    """Pack rounds of a table into 32 bits."""

    def field(word: Words, bit: int, mask: int, to: int) -> Words:
        return ((word >> np.uint64(bit)) & np.uint64(mask)) << np.uint64(to)

    return (
        field(words, 0, 0x1FF, 0)
        | field(places, 8, 0xF, _STANDS)
        | field(words, 34, 1, _F)
        | field(words, 43, 1, _F_GOAL)
        | field(words, 52, 1, _WON)
        | field(words, 63, 1, _OPEN)
        | field(words, 17, 0x1FF, _C_UP)
    )


def _make_packed_tables(problems: Sequence[Problem], thresholds: tuple[int, ...]) -> PackedTables:
    """Make the tables of some problems."""
    cells, shifts = make_tables(problems, thresholds)
    first = _pack_rounds(cells[..., FIRST], cells[..., PLACES])
    second = _pack_rounds(cells[..., SECOND], cells[..., PLACES] >> np.uint64(16))
    cut, shift = cells[..., CUT], shifts.astype(np.uint64)[:, None, None]
    # The rest of a key, shifted up, is below the cut just if it is at most (cut - 1) shifted down.
    last = np.arange(cells.shape[2], dtype=np.uint64) << shift
    last = last | (cut - np.uint64(1)) >> (np.uint64(64) - shift)
    both = np.where(cut == 0, second, first) | second << np.uint64(32)
    sizes = np.column_stack([shifts, np.full_like(shifts, cells.shape[2])])
    return PackedTables(sizes, np.stack([last, both], axis=-1).reshape(len(problems), -1))


def _make_start_tables(problems: Sequence[Problem], _thresholds: tuple[int, ...]) -> StartTables:
    """Make the start tables of some problems."""
    tables = [problem.start_table for problem in problems]
    shape = len(problems), max(len(states) for states, _ in tables)
    padded = StartTables(np.empty(shape, dtype=np.int64), np.ones(shape))
    for row, (states, cumulative) in enumerate(tables):
        padded.states[row, :], padded.states[row, : len(states)] = states[-1], states
        padded.cumulative[row, : len(states)] = cumulative
    return padded


@inlined
def _start_table(law: StartTables, problem: int) -> tuple[Ints, Floats]:
    """Return the start table of a problem."""
    return law.states[problem], law.cumulative[problem]


@inlined
def _walk_round(
    starts: tuple[Ints, Floats], world: StepLaw, _column: int, threshold: int, key: int
) -> Totals:
    """Walk a round step by step."""
    state = first_state(starts[0], starts[1], uniform(key, 0))
    return as_totals(play(world.goal, world.p_c, world.p_f, threshold, state, key))


@inlined
def _packed_table(law: PackedTables, problem: int) -> tuple[Words, int, int]:
    """Return the tables of a problem where they are."""
    return law.words[problem], u64(law.sizes[problem, 0]), u64(law.sizes[problem, 1])


def _hide_address(_: Any, near: Any) -> Any:
    """Hide where an array in the memory of a block is, so that its address is held on to.

    Otherwise a GPU finds it anew in every round, which takes four instructions.
    """
    ir = import_module("llvmlite.ir")

    def lower(context: Any, builder: Any, _: Any, values: Any) -> Any:
        array, number = context.make_array(near)(context, builder, values[0]), ir.IntType(64)
        here = array.data.type.pointee.as_pointer(3)
        address = builder.ptrtoint(builder.addrspacecast(array.data, here), number)
        kind = ir.FunctionType(number, [number])
        hidden = builder.asm(kind, "mov.b64 $0, $1;", "=l,l", [address], side_effect=True)
        array.data = builder.addrspacecast(builder.inttoptr(hidden, here), array.data.type)
        return array._getvalue()

    return near(near), lower


_held: Final[Any] = (
    import_module("numba.cuda.extending").intrinsic(_hide_address)
    if cuda and not _SIMULATED
    else np.asarray
)


@inlined
def _shared_table(law: PackedTables, problem: int) -> tuple[Words, int, int]:
    """Copy the tables of a problem to the memory of the block."""
    words, shift, cells = _packed_table(law, problem)
    # Aligned, a cell is read at once; the simulator knows no alignment.
    near = cuda.shared.array(0, _WORD) if _SIMULATED else cuda.shared.array(0, _WORD, 16)
    k = cuda.threadIdx.x
    while k < len(words):
        near[u64(k)] = words[u64(k)]
        k += cuda.blockDim.x
    cuda.syncthreads()
    return _held(near), shift, cells


@inlined
def _draw_round(
    tables: tuple[Words, int, int], world: StepLaw, column: int, threshold: int, key: int
) -> Totals:
    """Draw a round whole, as `table_round` does; what it counts are floats, as in the counters."""
    words, shift, cells = tables
    # An index without a sign needs no look whether it counts from the end.
    place = (u64(column) * cells + (u64(key) >> shift)) * u64(2)
    last, both = u64(words[place]), u64(words[place + u64(1)])
    # Numbers of 32 bits are quicker.
    first, second = np.int32(both & u64(0xFFFFFFFF)), np.int32(both >> u64(32))
    word: Any = first if u64(key) <= last else second
    c, c_up = np.uint32(word & 0x1FF), np.uint32(word >> _C_UP)
    if word & (1 << _OPEN):
        begun = Round(0, 0, 0, i64(int(c)), i64(int(c_up)))
        one = walk_on(world, threshold, key, (word >> _STANDS) & 0xF, begun)
        c, c_up = np.uint32(one.c), np.uint32(one.c_up)
        word = np.int32(one.f << _F | (one.f & one.won) << _F_GOAL | one.won << _WON)
    won = 1.0 if word & (1 << _WON) else 0.0
    f = 1.0 if word & (1 << _F) else 0.0
    f_goal = 1.0 if word & (1 << _F_GOAL) else 0.0
    return Totals(1, won, f, f_goal, float(c), float(c_up))  # type: ignore[arg-type]


@inlined
def _with_rho(n: Counters, rho: int) -> Counters:
    """Return the counters with the number of the round: 32 bits are counted sooner than 64."""
    return Counters(rho, n.f, n.f_goal, n.c, n.c_up, n.plays_0, n.wins_0, n.plays_1, n.wins_1)


@inlined
def _as_int32(threshold: int) -> int:
    """Return a threshold as a number of 32 bits; -1 if it does not fit."""
    short: Any = np.int32(threshold)
    other: Any = np.int32(-1)
    return short if threshold == short else other  # type: ignore[no-any-return]


@inlined
def _sum_block(seen: Ints, choices: int, sums: Ints, problem: int, checkpoint: int) -> None:
    """Add what a block has seen, and its products, to the sums; a group of replicas a thread."""
    threads, sizes, k = cuda.blockDim.x, choices * (choices + 1), cuda.threadIdx.x
    while k < sizes * (threads // GROUP):
        i, j = (k % sizes) // (choices + 1), (k % sizes) % (choices + 1)
        group, total = k // sizes * GROUP, 0
        for r in range(group, group + GROUP):
            factor = i64(seen[u64(j * threads + r)]) if j < choices else 1
            total += i64(seen[u64(i * threads + r)]) * factor
        cuda.atomic.add(sums, (problem, checkpoint, i, j), total)
        k += threads


def make_thread_function(  # noqa: C901 (the function inside counts)
    decide: Decide, goal: int, thresholds: tuple[int, ...], walked: bool, shared: bool
) -> Callable[..., None]:
    """Make the function of a thread: it plays one replica of one problem.

    The goal and the thresholds are constants in it. The replicas of a block are added up where
    all of them have come to a checkpoint, so that every thread goes on to the last one.
    """
    inlined(decide)
    choices, room = len(thresholds), len(thresholds) * THREADS
    # A threshold that is declared twice, as for a goal of 2, is counted once.
    columns = tuple({threshold: j for j, threshold in enumerate(thresholds)}.values())
    at_hand: Callable[..., Any] = (
        _start_table if walked else _shared_table if shared else _packed_table
    )
    play_round: Callable[..., Totals] = _walk_round if walked else _draw_round

    def play_replica(  # noqa: PLR0913, PLR0917 (the function of a thread is one loop)
        constants: Any, worlds: Floats, keys: Words, law: Any, first: int, replicas: int,
        checkpoints: Ints, sums: Ints, kept: Ints, wrong: Ints,
    ) -> None:  # fmt: skip
        problem, replica = cuda.blockIdx.y, cuda.grid(1)
        seen, counts = cuda.shared.array(room, np.int32), cuda.local.array(choices, np.int32)
        for j in range(choices):
            counts[j] = 0
        tables = at_hand(law, problem)
        world = StepLaw(goal, float(worlds[problem, 0]), float(worlds[problem, 1]))
        learner_key = fold_in(u64(keys[problem, 1]), first + replica)
        opening_key = fold_in(u64(keys[problem, 2]), first + replica)
        n = first_counters(world.p_c, world.p_f, False, opening_key)
        # The key of round rho is `fold_in(world_key, rho)`, whose counter grows by STEP.
        counter = (fold_in(u64(keys[problem, 0]), first + replica) + STEP) & WORD_MASK
        rho: Any = np.uint32(1)
        for checkpoint in range(len(checkpoints)):
            until: Any = np.uint32(checkpoints[checkpoint] if replica < replicas else 0)
            while rho <= until:
                n = _with_rho(n, i64(rho))
                # Joined with 0, a bool is a number, and what is not whole is refused.
                asked = _as_int32(0 | decide(goal, constants, n, fold_in(learner_key, n.rho)))
                # What is not declared is not counted; it is refused at the next checkpoint.
                column, threshold = np.int32(0), thresholds[0]
                for j in columns:
                    if asked == np.int32(thresholds[j]):
                        column, threshold = np.int32(j), thresholds[j]
                    counts[j] += np.int32(asked == np.int32(thresholds[j]))
                key = splitmix64(counter)
                counter = (counter + STEP) & WORD_MASK
                n = add_to(n, threshold, play_round(tables, world, column, threshold, key))
                rho = np.uint32(rho + 1)
            undeclared = i64(until)
            for j in range(choices):
                undeclared -= counts[j]
            if undeclared > 0:
                cuda.atomic.min(wrong, problem, first + replica)
            for j in range(choices):
                seen[j * cuda.blockDim.x + cuda.threadIdx.x] = counts[j]
                if len(kept) > 0 and replica < replicas:
                    kept[problem, replica, checkpoint, j] = counts[j]
            cuda.syncthreads()
            _sum_block(seen, choices, sums, problem, checkpoint)
            cuda.syncthreads()

    return play_replica


_COMPILER: Final = Compiler()
_LOCK: Final = threading.Lock()


def _compile(run: Callable[..., None], arguments: tuple[Any, ...], name: str) -> Any:
    """Compile the function of a thread for its arguments, once; the name is the learner's."""
    with compiler_settings():
        if _SIMULATED:
            return cuda.jit(run)
        fingerprint = Fingerprint(run, KERNELS)
        register_kernels()
        try:
            return _COMPILER.find(
                fingerprint,
                lambda: cuda.jit(run, lto=False, launch_bounds=(THREADS, BLOCKS)),
            ).specialize(*arguments)
        except Exception as error:  # Whatever the compiler raises: no replica was played.
            raise InvalidInput(
                f"{name} cannot be compiled for a GPU ({reason(error)}); play it on the CPU"
            ) from error


def register_kernels() -> None:
    """Make all kernels known to numba-cuda."""

    def options(function: Callable[..., Any]) -> dict[str, Any]:
        # What is true or false would be made a number and taken for one, in every round.
        is_test = is_own(function) and function.__annotations__.get("return") is bool
        if KERNELS[function] and is_test:
            return {"inline": "always"}
        return {"forceinline": KERNELS[function]}

    extending, templates = "numba.cuda.extending", "numba.cuda.typing.templates"
    _COMPILER.register(import_module(extending), import_module(templates), options)


@contextmanager
def compiler_settings() -> Iterator[None]:
    """Let numba-cuda compile as we need it: large arrays of a module, and every rounding kept."""
    with _LOCK:
        if _SIMULATED:
            yield
            return
        nvvm: Any = import_module("numba.cuda.cudadrv.nvvm")
        space, compile_ir = nvvm.ADDRSPACE_CONSTANT, nvvm.compile_ir
        # The constant memory of a GPU has 64 kB, and a table of logarithms four times as much.
        nvvm.ADDRSPACE_CONSTANT = nvvm.ADDRSPACE_GLOBAL
        nvvm.compile_ir = functools.partial(compile_ir, fma=False)  # The CPU rounds a product.
        try:
            yield
        finally:
            nvvm.ADDRSPACE_CONSTANT, nvvm.compile_ir = space, compile_ir


def check_cuda(
    learner: AnyLearner | None = None, goal: int = 4, engine: CudaEngine = "draw"
) -> None:
    """Refuse where a GPU, or what compiles for it, is missing, or a learner cannot be compiled.

    The learner is compiled for one goal, which takes some seconds, and none if it was before.
    """
    if cuda is None:
        raise MissingExtra(f"a GPU was asked for, and {MISSING}; {how_to_install('cuda')}")
    if not cuda.is_available():
        why = reason(cuda.cuda_error()).rstrip(".")
        raise InvalidInput(f"a GPU was asked for, and there is none that can be used ({why})")
    if learner is not None:
        problem = Problem(goal, 0.5, 0.5)
        cuda_decisions([problem], learner, [1], range(0), [0], engine)


def cuda_sums(
    problems: Sequence[Problem],
    learner: AnyLearner,
    checkpoints: Sequence[int],
    replicas: range,
    seeds: Sequence[int],
    engine: CudaEngine,
) -> tuple[Ints, Ints]:
    """Play replicas of problems of one goal, and sum the decisions and their products.

    Returns
    -------
    totals : ndarray, shape (problems, checkpoints, choices)
        The sums over the replicas of the rounds played with each choice, up to each checkpoint.
    products : ndarray, shape (problems, checkpoints, choices, choices)
        The sums of their products. Both hold Python integers where 64 bits may not be enough.
    """
    launches = _prepare_launches(problems, learner, checkpoints, seeds, engine)
    sums = np.concatenate([game.sums(replicas) for game in launches])
    return sums[..., -1], sums[..., :-1]


def cuda_decisions(
    problems: Sequence[Problem],
    learner: AnyLearner,
    checkpoints: Sequence[int],
    replicas: range,
    seeds: Sequence[int],
    engine: CudaEngine,
) -> Ints:
    """Play replicas of problems of one goal, and return the decisions of every replica.

    Returns
    -------
    ndarray, shape (problems, replicas, checkpoints, choices)
        How many rounds were played with each choice, up to each checkpoint.
    """
    launches = _prepare_launches(problems, learner, checkpoints, seeds, engine)
    return np.concatenate([game.decisions(replicas) for game in launches])


class _Launches(NamedTuple):
    """A learner and some problems of one goal, as they lie in the memory of a GPU.

    Attributes
    ----------
    engine : "walk" or "draw"
    problems, seeds : sequence
    learner : Learner
    choices : tuple of int
    checkpoints : ndarray
    table : int
        The bytes of the tables that a block copies to its own memory.
    held : tuple
        What every launch needs: constants, probabilities, keys and tables.
    """

    engine: CudaEngine
    problems: Sequence[Problem]
    seeds: Sequence[int]
    learner: AnyLearner
    choices: tuple[int, ...]
    checkpoints: Ints
    table: int
    held: tuple[Any, ...]

    def sums(self, replicas: range) -> Ints:
        """Play replicas, and return the sums of products and, in a last column, the totals."""
        # Neither the sums of a launch nor those of all launches may overflow.
        most = min(_REPLICAS, _LARGEST // int(self.checkpoints[-1]) ** 2)
        kind: Any = np.int64 if len(replicas) <= most else object
        starts, no_room = range(0, max(1, len(replicas)), most), cuda.to_device(zeros(0, 1, 1, 1))
        parts = [self._launch(replicas[k : k + most], no_room) for k in starts]
        return np.asarray(np.sum([part.astype(kind) for part in parts], axis=0, dtype=kind))

    def decisions(self, replicas: range) -> Ints:
        """Play replicas, and return what each of them did."""
        shape = len(self.problems), len(replicas), len(self.checkpoints), len(self.choices)
        kept = cuda.to_device(zeros(*shape))
        self._launch(replicas, kept)
        return np.asarray(kept.copy_to_host())

    def _launch(self, replicas: range, kept: Any) -> Ints:
        """Play replicas in one launch, keep what they did if there is room, and return the sums."""
        choices = len(self.choices)
        sums = cuda.to_device(
            zeros(len(self.problems), len(self.checkpoints), choices, choices + 1)
        )
        wrong = cuda.to_device(np.full(len(self.problems), FOREVER))
        checkpoints = cuda.to_device(self.checkpoints)
        arguments = (*self.held, replicas.start, len(replicas), checkpoints, sums, kept, wrong)
        run = make_thread_function(
            self.learner.decide, self.problems[0].goal, self.choices, self.engine == "walk",
            self.table > 0,
        )  # fmt: skip
        kernel = _compile(run, arguments, self.learner.name)
        blocks = max(1, -(-len(replicas) // THREADS)), len(self.problems)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # It warns that few replicas keep few threads busy.
            kernel[blocks, THREADS, 0, self.table](*arguments)
        self._check(wrong.copy_to_host())
        return np.asarray(sums.copy_to_host())

    def _check(self, wrong: Ints) -> None:
        """Let the CPU play a replica that played an undeclared threshold: it says which one."""
        for problem, seed, replica in zip(self.problems, self.seeds, wrong.tolist(), strict=True):
            if replica < FOREVER:
                list(
                    decisions(
                        problem, self.learner, self.checkpoints.tolist(), 1, seed,
                        engine=self.engine, first=replica,
                    )
                )  # fmt: skip
                raise InvalidInput(
                    f"the learner {self.learner.name} played a threshold on the GPU which is not"
                    " among the thresholds that it declares"
                )


def _prepare_launches(
    problems: Sequence[Problem],
    learner: AnyLearner,
    checkpoints: Sequence[int],
    seeds: Sequence[int],
    engine: CudaEngine,
) -> Iterator[_Launches]:
    """Bring the problems to the GPU in bundles; tables of one are made while another is played."""
    check_cuda()
    goal = problems[0].goal
    playable = _check_playable(learner, goal, checkpoints[-1], engine)
    choices, kept = tuple(playable.choices(goal)), np.asarray(checkpoints, dtype=np.int64)
    walks = engine == "walk"
    law_of: Callable[..., Any] = _make_start_tables if walks else _make_packed_tables
    each = 16 * goal if walks else 64 * len(choices) * goal**3
    size = max(1, min(_PROBLEMS, _BYTES // each))
    parts = [slice(k, k + size) for k in range(0, len(problems), size)]
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(law_of, problems[parts[0]], choices)
        for part, after in zip_longest(parts, parts[1:]):
            law = coming.result()
            if after is not None:
                coming = pool.submit(law_of, problems[after], choices)
            table = 0 if walks else law.words[0].nbytes
            worlds = np.array([[problem.p_c, problem.p_f] for problem in problems[part]])
            keys = [
                [purpose_key(int(s), p) for p in (WORLD, LEARNER, OPENING)] for s in seeds[part]
            ]
            held = (
                playable.constants,
                cuda.to_device(worlds),
                cuda.to_device(np.array(keys, dtype=np.uint64)),
                type(law)(*map(cuda.to_device, law)),
            )
            fits = table if table + 4 * THREADS * len(choices) <= SHARED else 0
            yield _Launches(
                engine, problems[part], seeds[part], playable, choices, kept, fits, held
            )


def _check_playable(learner: AnyLearner, goal: int, rounds: int, engine: CudaEngine) -> AnyLearner:
    """Return a learner that a GPU can play; refuse any other."""
    if engine not in get_args(CudaEngine):
        raise InvalidInput(
            f"engine = {engine!r} was given; a GPU asks the learner in every round, so that it"
            " must be 'walk' or 'draw'"
        )
    if not learner.by_threshold:
        raise InvalidInput(
            f"{learner.name} plays no thresholds and keeps a memory of its own, so that it cannot"
            " be played on a GPU; play it on the CPU"
        )
    if engine == "draw" and goal > TABLE_GOAL:
        raise InvalidInput(
            f"a goal of {goal} and engine = 'draw' were given; a GPU draws rounds whole up to a"
            f" goal of {TABLE_GOAL}; use engine = 'walk'"
        )
    if rounds > MOST_ROUNDS:
        raise InvalidInput(
            f"{rounds:,} rounds were asked for; a GPU plays up to {MOST_ROUNDS:,}, one by one;"
            " more are leapt over on the CPU"
        )
    if len(learner.choices(goal)) > MOST_CHOICES:
        raise InvalidInput(
            f"the learner {learner.name} declares {len(learner.choices(goal))} thresholds; on a"
            f" GPU it may declare up to {MOST_CHOICES}"
        )
    check_first_decision(learner, goal)
    return learner
