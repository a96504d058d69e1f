import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { type Day, DayState, listFailedChecks } from "./day-state.tsx";

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

/** The state of a day and, on narrow screens, which have no column for them, its failed checks. */
export const DayStateWithFaults = ({ day }: { day: Day }) => (
  <>
    <DayState state={day.state} />
    {listFailedChecks(day).length > 0 && (
      <div className="narrow-only">
        <FailedChecks day={day} />
      </div>
    )}
  </>
);
