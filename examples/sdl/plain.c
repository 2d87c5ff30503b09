/* plain: an ordinary animation with SDL 2: a box goes to and fro, at the position of the time of drawing.
 *
 *   plain [FRAMES [HEAVY]]    shows FRAMES frames (default 600); each fortieth takes HEAVY milliseconds more
 *
 * With `paced.diff` it draws ahead, each frame for its presentation time: see the Makefile.
 */
#include <SDL.h>
#include <SDL_syswm.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 480, HEIGHT = 270, BOX = 40, HEAVY_EVERY = 40 };

/* Where the box is at a time in seconds. */
static int place(double seconds) { return (int)((WIDTH - BOX) * (0.5 + 0.5 * sin(seconds * 3))); }

static void draw(SDL_Renderer *renderer, double seconds) {
    SDL_Rect box = {place(seconds), (HEIGHT - BOX) / 2, BOX, BOX};
    SDL_SetRenderDrawColor(renderer, 24, 32, 48, 255);
    SDL_RenderClear(renderer);
    SDL_SetRenderDrawColor(renderer, 255, 176, 64, 255);
    SDL_RenderFillRect(renderer, &box);
}

int main(int argc, char **argv) {
    int frames = argc > 1 ? atoi(argv[1]) : 600, heavy = argc > 2 ? atoi(argv[2]) : 0;
    if (SDL_Init(SDL_INIT_VIDEO) < 0) {
        fprintf(stderr, "plain: %s\n", SDL_GetError());
        return 1;
    }
    SDL_Window *window = SDL_CreateWindow("SDL", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, WIDTH, HEIGHT, 0);
    SDL_Renderer *renderer = window ? SDL_CreateRenderer(window, -1, 0) : NULL;
    if (!renderer) {
        fprintf(stderr, "plain: %s\n", SDL_GetError());
        return 1;
    }
    SDL_RenderSetVSync(renderer, 1);
    Uint64 started = SDL_GetTicks64();
    int frame = 0;
    for (SDL_bool open = SDL_TRUE; open && frame < frames; frame++) {
        SDL_Event event;
        while (SDL_PollEvent(&event))
            open &= event.type != SDL_QUIT;
        if (frame % HEAVY_EVERY == HEAVY_EVERY - 1)
            SDL_Delay((Uint32)heavy);
        draw(renderer, (double)SDL_GetTicks64() / 1e3);
        SDL_RenderPresent(renderer);
    }
    printf("%d frames in %.1f s\n", frame, (double)(SDL_GetTicks64() - started) / 1e3);
    SDL_DestroyRenderer(renderer);
    SDL_DestroyWindow(window);
    SDL_Quit();
    return 0;
}
