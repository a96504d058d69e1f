import { ApiProblem, type ApiSchemaTypes } from "@pragma/client";
import { EventSourceParserStream } from "eventsource-parser/stream";

export type LiveOrder = ApiSchemaTypes["OrderLive"];

export interface LiveOrderEvents {
  onOrder: (order: LiveOrder, isChange: boolean) => void;
  onLeft: (orderId: string) => void;
  /** All orders that were received before must be forgotten. */
  onReset: () => void;
  /** All orders that exist have been received. */
  onReady: () => void;
  /** The stream ended, and is opened again after a delay. `problem` is the response of the API, if it sent one. */
  onInterrupted: (problem: ApiProblem | null) => void;
}

const minDelayMs = 1_000;
const maxDelayMs = 30_000;

/**
 * Follows the stream of live orders until the signal is aborted. Uses `fetch`, because `EventSource` cannot send the API
 * key in a header. After an interruption, continues where the stream ended. Ends if the API rejects the key.
 */
export async function followLiveOrders(
  { apiUrl, apiKey, signal }: { apiUrl: string; apiKey: string; signal: AbortSignal },
  events: LiveOrderEvents,
): Promise<void> {
  let lastEventId: string | undefined;
  let delayMs = minDelayMs;
  while (!signal.aborted) {
    let problem: ApiProblem | null = null;
    try {
      const response = await fetch(`${apiUrl}/v1/orders-live/stream`, {
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
        },
        signal,
      });
      if (!response.ok) throw new ApiProblem("GET /v1/orders-live/stream", await response.json());
      if (lastEventId === undefined) events.onReset();
      for await (const event of readEvents(response)) {
        delayMs = minDelayMs;
        if (event.id !== undefined) lastEventId = event.id;
        if (event.event === "order") events.onOrder(JSON.parse(event.data), event.id !== undefined);
        else if (event.event === "left") events.onLeft(JSON.parse(event.data).id);
        else if (event.event === "reset") events.onReset();
        else if (event.event === "ready") events.onReady();
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiProblem) problem = error;
    }
    if (signal.aborted) return;
    events.onInterrupted(problem);
    if (problem && problem.status < 500 && problem.status !== 429) return;
    await new Promise((resolve) => setTimeout(resolve, delayMs * (0.5 + Math.random() / 2)));
    delayMs = Math.min(delayMs * 2, maxDelayMs);
  }
}

/** Yields the events of the response. Not every browser can iterate over a stream. */
async function* readEvents({ body }: Response) {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
