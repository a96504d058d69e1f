import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import type { Column } from "../ui/table.tsx";
import type { UsageNumbers } from "./use-usage.ts";

/** Returns the columns with the numbers of requests and of failed requests. */
export const createUsageColumns = <Row extends { id: string }>(
  usageOf: (id: string) => UsageNumbers | null | undefined,
  isOnlyOfSandboxes: (id: string) => boolean = () => false,
): Column<Row>[] =>
  (["requestCount", "failedCount"] as const).map((count) => ({
    header: count === "requestCount" ? text.operator.requests : text.operator.failed,
    isNumeric: true,
    cell: ({ id }) => <UsageCell usage={usageOf(id)} count={count} isOnlyOfSandboxes={isOnlyOfSandboxes(id)} />,
  }));

interface UsageCellProps {
  usage: UsageNumbers | null | undefined;
  count: keyof UsageNumbers;
  /** Whether all requests are those of sandboxes, which the numbers leave out. */
  isOnlyOfSandboxes: boolean;
}

function UsageCell({ usage, count, isOnlyOfSandboxes }: UsageCellProps) {
  const { number } = useFormats();
  if (usage === undefined) return null;
  if (usage === null) return <abbr title={text.operator.unknownCount}>–</abbr>;
  if (isOnlyOfSandboxes) return <abbr title={text.operator.onlyOfSandboxes}>–</abbr>;
  const value = usage[count];
  if (value === 0) return <span className="muted">0</span>;
  return <span className={count === "failedCount" ? "bad" : undefined}>{number(value)}</span>;
}
