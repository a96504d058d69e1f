import type { TryItRequest } from "./compose-request.ts";

/** The part of a response that has arrived so far. */
export interface TryItResponse {
  status: number;
  statusText: string;
  /** Time from the request until the response headers arrived, in milliseconds. */
  durationMs: number;
  headers: [name: string, value: string][];
  body: string;
  isComplete: boolean;
}

/** Maximum number of characters of a response body. The rest is not read, so that the page stays fast. */
const maxShownCharacters = 200_000;

/**
 * Sends a request. Calls `onUpdate` after each chunk of the response body, because the body of a stream may never end.
 * @throws `TypeError` if no response arrives, or if CORS forbids the page to read the response; `AbortError` if
 * `signal` is aborted.
 */
export async function sendTryItRequest(
  { method, url, headers, body }: TryItRequest,
  { signal, onUpdate }: { signal: AbortSignal; onUpdate: (response: TryItResponse) => void },
): Promise<void> {
  const startedAt = performance.now();
  const response = await fetch(url, { method, headers, signal, ...(body !== undefined && { body }) });
  const head = {
    status: response.status,
    statusText: response.statusText,
    durationMs: Math.round(performance.now() - startedAt),
    headers: [...response.headers],
  };
  let text = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) break;
    text += chunk.value;
    if (text.length > maxShownCharacters) {
      text = `${text.slice(0, maxShownCharacters)}\n… (truncated)`;
      await reader?.cancel();
      break;
    }
    onUpdate({ ...head, body: text, isComplete: false });
  }
  onUpdate({ ...head, body: formatIfJson(text), isComplete: true });
}

function formatIfJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
