import type { ApiRequest } from "./compose-request.ts";

/** What came back so far. */
export interface Reply {
  status: number;
  statusText: string;
  /** Milliseconds until the headers were here. */
  took: number;
  headers: [name: string, value: string][];
  body: string;
  isComplete: boolean;
}

/** Characters of a body that are shown at most. */
const longest = 200_000;

/**
 * Sends the request and tells what came back, again with each part of the body: a stream may have no end. Throws when
 * nobody answers, or when the browser may not read who does.
 */
export async function sendRequest(
  { method, url, headers, body }: ApiRequest,
  { signal, show }: { signal: AbortSignal; show: (reply: Reply) => void },
): Promise<void> {
  const since = performance.now();
  const response = await fetch(url, { method, headers, signal, ...(body !== undefined && { body }) });
  const reply = {
    status: response.status,
    statusText: response.statusText,
    took: Math.round(performance.now() - since),
    headers: [...response.headers],
  };
  let text = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) break;
    text += part.value;
    if (text.length > longest) {
      text = `${text.slice(0, longest)}\n… and more`;
      await reader?.cancel();
      break;
    }
    show({ ...reply, body: text, isComplete: false });
  }
  show({ ...reply, body: pretty(text), isComplete: true });
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
