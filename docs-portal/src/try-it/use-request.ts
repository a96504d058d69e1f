import { useEffect, useRef, useState } from "react";
import type { TryItRequest } from "./compose-request.ts";
import { sendTryItRequest, type TryItResponse } from "./send-request.ts";

/** The last request of the form and what has arrived of its response. */
export interface RequestState {
  response: TryItResponse | undefined;
  /** The reason why no response arrived. */
  failure: string | undefined;
  isSending: boolean;
  send(request: TryItRequest): Promise<void>;
  /** Aborts the request. */
  stop(): void;
  /** Removes the response. */
  clear(): void;
}

/** Returns the state of a request, and functions that send and abort it. Leaving the page also aborts the request. */
export function useRequest(): RequestState {
  const [response, setResponse] = useState<TryItResponse>();
  const [failure, setFailure] = useState<string>();
  const [isSending, setIsSending] = useState(false);
  const abortController = useRef<AbortController>(undefined);
  useEffect(() => () => abortController.current?.abort(), []);

  function clear() {
    setResponse(undefined);
    setFailure(undefined);
  }

  async function send(request: TryItRequest) {
    const controller = new AbortController();
    const { signal } = controller;
    abortController.current = controller;
    clear();
    setIsSending(true);
    try {
      await sendTryItRequest(request, { signal, onUpdate: setResponse });
    } catch (error) {
      if (!signal.aborted)
        setFailure(`No response from ${new URL(request.url).origin}. Is the API running there? (${String(error)})`);
    } finally {
      setIsSending(false);
    }
  }

  return { response, failure, isSending, send, stop: () => abortController.current?.abort(), clear };
}
