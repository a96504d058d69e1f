import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import type { ApiResponse } from "../api/use-api.ts";
import { text } from "../text/text.ts";
import { ErrorNotice } from "./error-notice.tsx";

interface LoadedProps<Data> {
  query: UseQueryResult<ApiResponse<Data>>;
  children: (data: Data) => ReactNode;
}

/** Shows the data of a query, and until then its progress. If the query fails, shows why, and a button to try again. */
export function Loaded<Data>({ query, children }: LoadedProps<Data>) {
  const { data, error, isFetching, isPlaceholderData, refetch } = query;
  return (
    <>
      {error && <ErrorNotice error={error} isRetrying={isFetching} onRetry={() => void refetch()} />}
      {data ? (
        <div className={isPlaceholderData ? "is-outdated" : undefined} aria-busy={isPlaceholderData}>
          {isPlaceholderData && <Progress />}
          {children(data.data)}
        </div>
      ) : (
        !error && <Progress />
      )}
    </>
  );
}

/** The delays after which progress is shown, and after which it states that the response takes long. */
const shownAfterMs = 250;
const longAfterMs = 4_000;

export function Progress() {
  const [stage, setStage] = useState<"hidden" | "shown" | "long">("hidden");
  useEffect(() => {
    const timers = [setTimeout(() => setStage("shown"), shownAfterMs), setTimeout(() => setStage("long"), longAfterMs)];
    return () => timers.forEach(clearTimeout);
  }, []);
  return (
    <p className="progress" role="status">
      {stage !== "hidden" && (
        <>
          <span className="spinner" aria-hidden="true" />
          {stage === "long" ? text.loading.long : text.loading.short}
        </>
      )}
    </p>
  );
}
