import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { type Day, listFailedChecks } from "./day-state.tsx";

/** The failed checks of a day in a line, with their differences. */
export function FailedChecks({ day }: { day: Day }) {
  const { difference } = useFormats();
  const failed = listFailedChecks(day);
  if (failed.length === 0)
    return (
      <span className="muted">{day.reconciliation.length === 0 ? text.days.notChecked : text.days.allPassed}</span>
    );
  return (
    <ul className="check-list">
      {failed.map((check) => (
        <li key={check.code}>
          {text.days.faults[check.code]}
          <strong>
            {check.difference === null ? text.days.findings(check.findingCount) : difference(check.difference)}
          </strong>
        </li>
      ))}
    </ul>
  );
}
