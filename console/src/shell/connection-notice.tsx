import { NoResponse } from "@pragma/client";
import { useEffect, useState } from "react";
import { checkConnection, connectionKey } from "../api/check-connection.ts";
import { useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";

const retryMs = 5_000;

/**
 * States that the API does not respond, and tries again until it does. The view is then read again. Without this notice,
 * a view that shows earlier responses would look current.
 */
export function ConnectionNotice() {
  const { api, queryClient, installation } = useSession();
  const [isUnreachable, setIsUnreachable] = useState(false);
  useEffect(
    () =>
      queryClient.getQueryCache().subscribe((event) => {
        if (event.type !== "updated") return;
        const { action, query } = event;
        const isCheck = query.queryKey[0] === connectionKey;
        if (isCheck && action.type === "success") setIsUnreachable(false);
        if (action.type !== "error" || !(action.error instanceof NoResponse)) return;
        if (isCheck) setIsUnreachable(true);
        // A single request can fail for a reason of its own.
        else void checkConnection({ api, queryClient });
      }),
    [api, queryClient],
  );
  useEffect(() => {
    if (!isUnreachable) return;
    const timer = setInterval(async () => {
      if (await checkConnection({ api, queryClient })) await queryClient.invalidateQueries();
    }, retryMs);
    return () => clearInterval(timer);
  }, [isUnreachable, api, queryClient]);
  if (!isUnreachable) return null;
  return (
    <p className="notice notice-bad" role="alert">
      <strong>{text.connection.lost}</strong> {text.connection.whatToDo(new URL(installation.apiUrl).host)}
    </p>
  );
}
