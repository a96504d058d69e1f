import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import type { UsageNumbers } from "./use-usage.ts";

interface UsageCellProps {
  usage: UsageNumbers | null | undefined;
  count: keyof UsageNumbers;
  /** Whether all requests are those of sandboxes, which the numbers leave out. */
  isOnlyOfSandboxes?: boolean;
}

export function UsageCell({ usage, count, isOnlyOfSandboxes = false }: UsageCellProps) {
  const { number } = useFormats();
  if (usage === undefined) return null;
  if (usage === null) return <abbr title={text.operator.unknownCount}>–</abbr>;
  if (isOnlyOfSandboxes) return <abbr title={text.operator.onlyOfSandboxes}>–</abbr>;
  const value = usage[count];
  if (value === 0) return <span className="muted">0</span>;
  return <span className={count === "failedCount" ? "bad" : undefined}>{number(value)}</span>;
}
