import type { Readable } from "node:stream";

/**
 * The web stream of a Node stream of bytes, read only as fast as it is consumed. Cancelling it closes the source; a fault of
 * the source reaches the reader as what `translate` makes of it.
 */
export function webBody(source: Readable, translate: (error: unknown) => unknown): ReadableStream<Uint8Array> {
  // A fault between two reads would otherwise be an uncaught error event; the iterator hands it to the next read.
  source.on("error", () => {});
  const chunks: AsyncIterator<Uint8Array> = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next().catch((error: unknown) => {
          throw translate(error);
        });
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel() {
        source.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
