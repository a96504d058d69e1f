import recordedWeek from "@site/examples/demo-week.json";
import { useEffect, useState } from "react";
import { exampleApiUrl } from "../../examples/exchange.ts";
import { useApiAccess } from "../../try-it/use-api-access.ts";
import { ApiRejectionError, type LiveWeek, loadLiveWeek, readDemoKeyOfSite } from "./load-week.ts";
import type { Period, WeekAnswers } from "./questions.ts";

/** Where the shown figures come from. Unless they are live, they are the recorded ones. */
export type WeekState =
  | { kind: "recorded" | "loading" }
  | { kind: "live"; week: LiveWeek }
  | { kind: "failed"; reason: string; isRejected: boolean };

interface ShownWeek {
  state: WeekState;
  /** The server that is asked. */
  server: string;
  period: Period;
  answers: WeekAnswers;
  /** Asks the server again, with the given key or else with the same one. */
  load(key?: string): void;
}

/** The date of the recording, YYYY-MM-DD. */
export const { recordedOn } = recordedWeek;

/**
 * Returns the figures of a week: those of the API once it has answered, and the recorded ones until then. When `isNear`
 * becomes true, asks the API with the key that the reader entered in this browser tab, or else with the key that the
 * server of the site offers. Without a key, sends no request to the API.
 */
export function useWeek(isNear: boolean): ShownWeek {
  const { server, key, setKey } = useApiAccess(exampleApiUrl);
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<WeekState>({ kind: "recorded" });

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt repeats the requests.
  useEffect(() => {
    if (!isNear) return;
    const controller = new AbortController();
    void askWeek({ server, key, controller, onState: setState });
    return () => controller.abort();
  }, [isNear, server, key, attempt]);

  const { period, answers } = state.kind === "live" ? state.week : (recordedWeek as unknown as RecordedWeek);
  return {
    state,
    server: state.kind === "live" ? state.week.server : server,
    period,
    answers,
    load(newKey = key) {
      if (newKey !== key) setKey(newKey);
      setAttempt(attempt + 1);
    },
  };
}

interface RecordedWeek {
  period: Period;
  answers: WeekAnswers;
}

async function askWeek({
  server,
  key,
  controller: { signal },
  onState,
}: {
  server: string;
  key: string;
  controller: AbortController;
  onState(state: WeekState): void;
}): Promise<void> {
  try {
    // The key of the site is for the server of the site, so a key that the reader entered for another server comes first.
    const access = key === "" ? { server: exampleApiUrl, key: await readDemoKeyOfSite(signal) } : { server, key };
    if (access.key === null) return onState({ kind: "recorded" });
    onState({ kind: "loading" });
    const week = await loadLiveWeek({ server: access.server, key: access.key, signal });
    if (!signal.aborted) onState({ kind: "live", week });
  } catch (error) {
    if (signal.aborted) return;
    const isRejected = error instanceof ApiRejectionError;
    onState({
      kind: "failed",
      isRejected,
      reason: isRejected
        ? error.message
        : error instanceof DOMException && error.name === "TimeoutError"
          ? "no response within ten seconds"
          : "no response",
    });
  }
}
