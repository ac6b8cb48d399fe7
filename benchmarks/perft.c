/* Perft of English draughts in C, the same algorithm as checkers/movegen.py: bitboards, captures into a buffer, quiet
   moves walked without it, the last ply counted in bulk. `ace-checkers bench` builds it when gcc is there and runs it
   beside the kernel. Prints one JSON object: perft_nodes_per_second for depth 10 from the start. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

typedef uint32_t board;

static inline board down_left(board b) { return ((b & 0x0F0F0F0Fu) << 4) | ((b & 0xE0E0E0E0u) << 3); }
static inline board down_right(board b) { return ((b & 0x07070707u) << 5) | ((b & 0xF0F0F0F0u) << 4); }
static inline board up_left(board b) { return ((b & 0x0F0F0F0Fu) >> 4) | ((b & 0xE0E0E0E0u) >> 5); }
static inline board up_right(board b) { return ((b & 0x07070707u) >> 3) | ((b & 0xF0F0F0F0u) >> 4); }

static inline board step(board b, int direction) {
    switch (direction) {
    case 0: return down_left(b);
    case 1: return down_right(b);
    case 2: return up_left(b);
    default: return up_right(b);
    }
}

struct move { board own, opp, kings, code; };

static board jumpers(board own, board opp, board kings, int side) {
    board empty = ~(own | opp), royal = own & kings;
    board down = side == 0 ? own : royal, up = side == 0 ? royal : own;
    return (down & up_right(opp & up_right(empty))) | (down & up_left(opp & up_left(empty))) |
           (up & down_right(opp & down_right(empty))) | (up & down_left(opp & down_left(empty)));
}

static int64_t capture_paths(board own, board opp, board kings, int side, board at, int royal, board code, int jumps,
                             struct move *moves, int64_t n) {
    board empty = ~(own | opp | at), crown = side == 0 ? 0xF0000000u : 0xFu;
    int any = 0;
    for (int direction = 0; direction < 4; direction++) {
        if (!royal && ((side == 0) != (direction < 2))) continue;
        board taken = step(at, direction) & opp, to = step(taken, direction) & empty;
        if (!to) continue;
        any = 1;
        board further = code | ((board)direction << (9 + 2 * jumps));
        if (!royal && (to & crown)) {
            moves[n++] = (struct move){own | to, opp & ~taken, (kings & ~taken) | to, further | ((board)(jumps + 1) << 5)};
        } else {
            n = capture_paths(own, opp & ~taken, kings & ~taken, side, to, royal, further, jumps + 1, moves, n);
        }
    }
    if (!any && jumps)
        moves[n++] = (struct move){own | at, opp, royal ? kings | at : kings, code | ((board)jumps << 5)};
    return n;
}

static int64_t captures(board own, board opp, board kings, int side, board who, struct move *moves) {
    int64_t n = 0;
    for (; who; who &= who - 1) {
        board piece = who & -who;
        n = capture_paths(own & ~piece, opp, kings & ~piece, side, piece, (piece & kings) != 0,
                          (board)__builtin_ctz(piece), 0, moves, n);
    }
    return n;
}

static int64_t perft(board own, board opp, board kings, int side, int depth, struct move *moves) {
    board who = jumpers(own, opp, kings, side);
    board empty = ~(own | opp), royal = own & kings;
    board down = side == 0 ? own : royal, up = side == 0 ? royal : own;
    if (depth == 1) {
        if (who) return captures(own, opp, kings, side, who, moves);
        return __builtin_popcount(down & up_right(empty)) + __builtin_popcount(down & up_left(empty)) +
               __builtin_popcount(up & down_right(empty)) + __builtin_popcount(up & down_left(empty));
    }
    int64_t nodes = 0;
    if (who) {
        int64_t count = captures(own, opp, kings, side, who, moves);
        for (int64_t i = 0; i < count; i++)
            nodes += perft(moves[i].opp, moves[i].own, moves[i].kings, 1 - side, depth - 1, moves + count);
        return nodes;
    }
    board crown = side == 0 ? 0xF0000000u : 0xFu;
    for (int direction = 0; direction < 4; direction++) {
        who = direction == 0 ? down & up_right(empty) : direction == 1 ? down & up_left(empty)
            : direction == 2 ? up & down_right(empty) : up & down_left(empty);
        for (; who; who &= who - 1) {
            board piece = who & -who, to = step(piece, direction);
            board after = (piece & kings) ? (kings & ~piece) | to : kings | (to & crown);
            nodes += perft(opp, (own & ~piece) | to, after, 1 - side, depth - 1, moves);
        }
    }
    return nodes;
}

int main(void) {
    static struct move moves[8192];
    struct timespec start, end;
    perft(0xFFFu, 0xFFF00000u, 0, 0, 8, moves);
    clock_gettime(CLOCK_MONOTONIC, &start);
    int64_t nodes = perft(0xFFFu, 0xFFF00000u, 0, 0, 10, moves);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    if (nodes != 18391564) return 1;
    printf("{\"perft_nodes_per_second\": %.0f}\n", (double)nodes / seconds);
    return 0;
}
