r"""Skip-gram and CBOW with negative sampling, compiled: blocks of words share their noise.

A block of B centres has the contexts of all of them, R <= B + 2 window rows X of v, and as outputs
the rows O of u: its B centres, and S words of noise that all of them share.

    F = X O^T              G = lr W (Y - sigma(F))        X += G O,   O += G^T X

Y is 1 where a row is a context of a centre; W is 1 there, and for noise k / S times the number of
centres whose context the row is, so that each pair has k words of noise by weight. A context that
several centres share is multiplied once, and the products are those of matrices.

In CBOW the rows are the means of the contexts, H = A X with A = 1 / (contexts of the centre), one a
centre: Y is 1 where a row is a centre's own, and X += A^T G O.

Shapes: V words, D features, N words of a part of the text.
Source: Mikolov et al. (2013); Ji et al., "Parallelizing Word2Vec in Shared and Distributed Memory"
(2016) for shared noise.
"""

import numpy as np
from numba import njit

BLOCK = 16  # centres, B
SHARED = 5  # words of noise of a block for each negative sample of a pair: S = 5 k; 2 are worse
FIRST_WORD = 4  # tokens before it are no words: they end a text
BOUND, CELLS = 8.0, 4096  # the sigmoid is looked up from -8 to 8
SHOWN = 64  # of so many blocks the loss of one is told
SIGMOID = (1 / (1 + np.exp(BOUND - (np.arange(CELLS) + 0.5) * (2 * BOUND / CELLS)))).astype(
    np.float32
)


@njit(inline="always")
def _next(state):
    """The next state of a generator, xorshift: all bits but none of the lowest ones are good."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


@njit(inline="always")
def _fraction(state):
    """A number in [0, 1) from the upper 24 bits of a state."""
    return np.float32(state >> np.uint64(40)) * np.float32(2.0**-24)


@njit(inline="always")
def _sigmoid(score):
    cell = np.int64((score + np.float32(BOUND)) * np.float32(CELLS / (2 * BOUND)))
    return SIGMOID[min(max(cell, 0), CELLS - 1)]


@njit(nogil=True, cache=True)
def _kept_words(words, keep, state):
    """The words that stay by chance, -1 where a text ends; and the next state."""
    kept = np.empty(len(words), np.int64)
    count = 0
    for word in words:
        if word < FIRST_WORD:
            kept[count] = -1
            count += 1
            continue
        state = _next(state)
        if _fraction(state) < keep[word]:
            kept[count] = word
            count += 1
    return kept[:count], state


@njit(nogil=True, cache=True)
def _find_pairs(kept, begin, low, window, pairs, weights, state):
    """Mark which rows are contexts of which centres, and weigh them as those of noise."""
    pairs[:] = False
    weights[:] = 0
    for column in range(min(BLOCK, len(kept) - begin)):
        place = begin + column
        if kept[place] < 0:
            continue
        state = _next(state)
        reach = 1 + np.int64((state >> np.uint64(33)) % np.uint64(window))
        for step in (-1, 1):
            for distance in range(1, reach + 1):
                near = place + step * distance
                if near < 0 or near >= len(kept) or kept[near] < 0:
                    break
                pairs[near - low, column] = True
                weights[near - low] += np.float32(1 / SHARED)
    return state


@njit(nogil=True, cache=True)
def _share_contexts(pairs, weights, shares):
    """Pairs (R, B) become shares in means, A (C, R); then a row is a mean, and its centre's own."""
    centres, rows = shares.shape
    for column in range(centres):
        count = 0
        for row in range(rows):
            count += pairs[row, column]
        for row in range(rows):
            shares[column, row] = np.float32(1 / count) if pairs[row, column] else np.float32(0)
        weights[column] = np.float32(1 / SHARED) if count else np.float32(0)
    pairs[:] = False
    for column in range(centres):
        pairs[column, column] = weights[column] > 0


@njit(nogil=True, cache=True)
def _draw_noise(drawn, stays, alias, state):
    """Words of noise by their chances."""
    for place in range(len(drawn)):
        state = _next(state)
        word = np.int64(((state >> np.uint64(32)) * np.uint64(len(stays))) >> np.uint64(32))
        state = _next(state)
        drawn[place] = word if _fraction(state) < stays[word] else alias[word]
    return state


@njit(fastmath=True, nogil=True, cache=True)
def _block_loss(scores, pairs, weights, centres):
    """The loss of a block, summed over its pairs, and their number."""
    loss, count = 0.0, 0.0
    for row in range(scores.shape[0]):
        for column in range(centres):
            if pairs[row, column]:
                loss += np.log1p(np.exp(-scores[row, column]))
                count += 1
        if weights[row]:
            for column in range(centres, scores.shape[1]):
                loss += weights[row] * np.log1p(np.exp(scores[row, column]))
    return loss, count


@njit(fastmath=True, nogil=True, cache=True)
def _to_slopes(scores, pairs, weights, centres, lr):
    """Scores become steps, lr W (Y - sigma), in place."""
    for row in range(scores.shape[0]):
        for column in range(centres):
            error = np.float32(1) - _sigmoid(scores[row, column])
            scores[row, column] = lr * error if pairs[row, column] else np.float32(0)
        for column in range(centres, scores.shape[1]):
            scores[row, column] = -lr * weights[row] * _sigmoid(scores[row, column])


@njit(nogil=True, cache=True)
def _take_rows(table, places, rows):
    for row in range(len(places)):
        if places[row] >= 0:
            rows[row] = table[places[row]]


@njit(nogil=True, cache=True)
def _add_rows(table, places, moves):
    for row in range(len(places)):
        if places[row] >= 0:
            table[places[row]] += moves[row]


@njit(nogil=True, cache=True)
def learn_part(words, vectors, contexts, keep, stays, alias, window, negatives, lr, seed, is_bag):
    """One pass over a part of a text (N,); gives the loss of some pairs, summed, and their count.

    Args:
        words: tokens by number, int32.
        vectors: v (V, D), moved in place.
        contexts: u (V, D), moved in place.
        keep: the chance that each word stays (V,).
        stays: the alias table of noise (V,).
        alias: its other half (V,).
        window: the farthest distance of a context; each centre draws its own from 1 to this.
        negatives: words of noise a pair, k.
        lr: the size of a step, float32.
        seed: of chance; not 0.
        is_bag: whether a word is predicted from the mean of its contexts (CBOW).
    """
    kept, state = _kept_words(words, keep, np.uint64(seed))
    width, noise, most = vectors.shape[1], SHARED * negatives, BLOCK + 2 * window
    x_rows, x_moves = np.zeros((most, width), np.float32), np.zeros((most, width), np.float32)
    h_rows, h_moves = np.zeros((BLOCK, width), np.float32), np.zeros((BLOCK, width), np.float32)
    o_rows = np.zeros((BLOCK + noise, width), np.float32)
    o_moves = np.zeros((BLOCK + noise, width), np.float32)
    numbers, parts = (
        np.zeros(most * (BLOCK + noise), np.float32),
        np.zeros(BLOCK * most, np.float32),
    )
    pairs, weights = np.zeros((most, BLOCK), np.bool_), np.zeros(most, np.float32)
    outputs = np.zeros(BLOCK + noise, np.int64)
    loss, counted = 0.0, 0.0
    for begin in range(0, len(kept), BLOCK):
        end = min(begin + BLOCK, len(kept))
        low, high = max(0, begin - window), min(len(kept), end + window)
        centres = end - begin
        columns = centres + noise
        outputs[:centres] = kept[begin:end]
        state = _find_pairs(kept, begin, low, window, pairs, weights, state)
        state = _draw_noise(outputs[centres:columns], stays, alias, state)
        x, o = x_rows[: high - low], o_rows[:columns]
        _take_rows(vectors, kept[low:high], x)
        _take_rows(contexts, outputs[:columns], o)
        shares = parts[: centres * len(x)].reshape(centres, len(x))
        if is_bag:
            _share_contexts(pairs, weights, shares)
            np.dot(shares, x, h_rows[:centres])
        inputs, moves = (h_rows[:centres], h_moves[:centres]) if is_bag else (x, x_moves[: len(x)])
        slopes = numbers[: len(inputs) * columns].reshape(len(inputs), columns)
        np.dot(inputs, o.T, slopes)
        if (begin // BLOCK) % SHOWN == 0:
            some, count = _block_loss(slopes, pairs, weights, centres)
            loss, counted = loss + some, counted + count
        _to_slopes(slopes, pairs, weights, centres, lr)
        np.dot(slopes, o, moves)
        np.dot(slopes.T, inputs, o_moves[:columns])
        if is_bag:
            np.dot(shares.T, moves, x_moves[: len(x)])
        _add_rows(vectors, kept[low:high], x_moves)
        _add_rows(contexts, outputs[:columns], o_moves)
    return loss, counted
