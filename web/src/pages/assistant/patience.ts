/** Waits for some milliseconds. */
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The waits between tries to reach the server again; it keeps a turn for about as long without a listener. */
const retries = [300, 700, 1500, 3000, 4000];

/** Asks again while the line is broken; what the server refuses is refused at once. */
export async function patiently<T>(ask: () => Promise<T>, waits: readonly number[] = retries): Promise<T> {
  for (const wait of waits) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      await pause(wait);
    }
  }
  return ask();
}
