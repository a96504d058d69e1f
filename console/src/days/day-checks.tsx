import { Link } from "@tanstack/react-router";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Section } from "../ui/section.tsx";
import type { Day, DayCheck } from "./day-state.tsx";

const tones: Record<DayCheck["status"], Tone> = { failed: "bad", passed: "good", unavailable: "neutral" };
/** The checks of a day: what each states, the amounts that it compares, and what it found. Passed checks are folded. */
export function DayChecks({ day }: { day: Day }) {
  const checksOf = (status: DayCheck["status"]) => day.reconciliation.filter((check) => check.status === status);
  const passed = checksOf("passed");
  return (
    <Section title={text.days.checksTitle}>
      {day.reconciliation.length === 0 && <p className="empty">{text.days.notChecked}</p>}
      <CheckList checks={[...checksOf("failed"), ...checksOf("unavailable")]} day={day} />
      {passed.length > 0 && (
        <details className="passed-checks">
          <summary>{text.days.passedChecks(passed.length)}</summary>
          <CheckList checks={passed} day={day} />
        </details>
      )}
    </Section>
  );
}

const CheckList = ({ checks, day }: { checks: readonly DayCheck[]; day: Day }) => (
  <ul className="checks">
    {checks.map((check) => (
      <li key={check.code} className="check">
        <CheckDetails check={check} day={day} />
      </li>
    ))}
  </ul>
);

function CheckDetails({ check, day }: { check: DayCheck; day: Day }) {
  const { money, difference } = useFormats();
  const help = text.days.help[check.code];
  const hasDetails = check.status === "failed";
  const expected = hasDetails ? findExpectedAmount(check) : null;
  return (
    <>
      <div className="check-header">
        <Badge tone={tones[check.status]}>{text.days.checkStates[check.status]}</Badge>
        <h3>{text.days.checks[check.code]}</h3>
        {hasDetails && check.difference !== null && <strong className="bad">{difference(check.difference)}</strong>}
      </div>
      <p className="check-meaning">{help.compares}</p>
      {check.status === "unavailable" && <p className="muted">{text.days.unavailable}</p>}
      {hasDetails && check.amounts.length > 0 && (
        <dl className="check-amounts">
          {check.amounts.map(({ name, amount }) => (
            <div key={name}>
              <dt>{text.days.amounts[name]}</dt>
              <dd>{money(amount)}</dd>
            </div>
          ))}
          {expected !== null && (
            <div>
              <dt>{text.days.expected}</dt>
              <dd>{money(expected)}</dd>
            </div>
          )}
        </dl>
      )}
      {hasDetails && check.findings.length > 0 && <Findings check={check} day={day} />}
      {hasDetails && (
        <div className="check-help">
          <h4>{text.days.causes}</h4>
          <ul>
            {help.causes.map((cause) => (
              <li key={cause}>{cause}</li>
            ))}
          </ul>
          <h4>{text.days.whatToDo}</h4>
          <p>{help.action}</p>
        </div>
      )}
      {check.uncheckedTillIds.length > 0 && check.status !== "unavailable" && (
        <p className="muted">{text.days.unchecked(check.uncheckedTillIds.length)}</p>
      )}
    </>
  );
}

/** The checks whose first amount is compared with a sum of the others, with the name of that amount. */
const comparedAmounts: Partial<Record<DayCheck["code"], DayCheck["amounts"][number]["name"]>> = {
  sales: "sales",
  cash: "counted",
};

/** Returns what the compared amount would be if the check passed; null if it is one of the amounts, or unknown. */
function findExpectedAmount({ code, difference, amounts }: DayCheck): number | null {
  const compared = amounts.find(({ name }) => name === comparedAmounts[code]);
  return compared && difference !== null ? compared.amount - difference : null;
}

/** Enough to see the pattern. The copied request returns all. */
const shownFindings = 10;

function Findings({ check: { findings, findingCount }, day }: { check: DayCheck; day: Day }) {
  const { difference, rate } = useFormats();
  const tillOf = (tillId: string) => day.tills.find((till) => till.tillId === tillId);
  const deviceNameOf = (identifier: string) =>
    day.tills.find(({ deviceIdentifier }) => deviceIdentifier === identifier)?.deviceName || identifier;
  return (
    <ul className="findings">
      {findings.slice(0, shownFindings).map((finding, index) => {
        const till = finding.tillId === null ? undefined : tillOf(finding.tillId);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: findings have no ID, and their sequence does not change.
          <li key={index}>
            {till && (
              <Link to="/reports/$id" params={{ id: till.reportId }}>
                {text.reports.titleOf(till.reportNumber)}
              </Link>
            )}
            {finding.tillId !== null && !till && (
              <span>
                {text.days.till} <code>{finding.tillId}</code>
              </span>
            )}
            {finding.orderId !== null && (
              <Link to="/orders/$id" params={{ id: finding.orderId }}>
                {text.days.order} <code>{finding.orderId.slice(0, 8)}</code>
              </Link>
            )}
            {finding.paymentMode !== null && <span>{text.payments.modeOf(finding.paymentMode)}</span>}
            {finding.movementType !== null && <span>{text.reports.movementTypes[finding.movementType]}</span>}
            {finding.taxRate !== null && <span>{text.days.vatOf(rate(finding.taxRate))}</span>}
            {finding.firstReportNumber !== null && (
              <span>
                {text.days.numbers(finding.firstReportNumber, finding.lastReportNumber ?? finding.firstReportNumber)}
              </span>
            )}
            {finding.deviceIdentifier !== null && (
              <span className="muted">{deviceNameOf(finding.deviceIdentifier)}</span>
            )}
            {finding.difference !== null && <strong>{difference(finding.difference)}</strong>}
          </li>
        );
      })}
      {findingCount > shownFindings && (
        <li className="muted">{text.days.moreFindings(findingCount - shownFindings)}</li>
      )}
    </ul>
  );
}
