import type { ApiSchemaTypes } from "@pragma/client";
import { Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { hasAnyScope } from "../session/session.ts";
import { useFormats, useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Ago, Moment } from "../ui/moment.tsx";
import { Section } from "../ui/section.tsx";

type Till = ApiSchemaTypes["Till"];

const refetchMs = 30_000;

/** The last till that was pushed or, for a key that cannot read tills, the last report. */
export function LastTill() {
  const { key } = useSession();
  if (hasAnyScope(key, "tills:read")) return <LastPushedTill />;
  return hasAnyScope(key, "reports:read") ? <LastReport /> : null;
}

const stateTones: Record<string, Tone> = { pending: "info", done: "good", parked: "bad", training: "neutral" };

function LastPushedTill() {
  const query = useApi(
    ["tills", "last"],
    (api) => api.GET("/v1/tills", { params: { query: { sinceDate: "2000-01-01T00:00:00Z", size: 1 } } }),
    { refetchMs },
  );
  return (
    <Section className="home-till" title={text.home.lastTill} actions={<CopyRequest url={query.data?.url} />}>
      <Loaded query={query}>
        {({ data: [till] }) => (till ? <TillFacts till={till} /> : <p className="empty">{text.home.noTill}</p>)}
      </Loaded>
    </Section>
  );
}

function TillFacts({ till }: { till: Till }) {
  const { key } = useSession();
  const { isoDay, longDay } = useFormats();
  const reportId = till.reportState === "done" ? till.reportId : null;
  // The till that was pushed last need not be of the last day.
  const report = useApi(
    ["report", reportId],
    (api) => api.GET("/v2/reports/{id}", { params: { path: { id: reportId ?? "" } } }),
    { isEnabled: reportId !== null && hasAnyScope(key, "reports:read") },
  );
  const shown = report.data?.data;
  const date = shown && shown.id === reportId ? isoDay(new Date(shown.startedAt)) : null;
  return (
    <Facts
      facts={[
        [text.tills.pushed, <Ago key="pushed" at={till.createdAt} />],
        [
          text.tills.state,
          <Badge key="state" tone={stateTones[till.reportState] ?? "neutral"}>
            {text.tills.states[till.reportState]}
          </Badge>,
        ],
        [text.tills.parkedReason, till.reportParkedReason],
        [
          text.reports.businessDay,
          date !== null && (
            <Link key="day" to="/days/$date" params={{ date }}>
              {longDay(date)}
            </Link>
          ),
        ],
        [
          text.tills.report,
          reportId !== null && (
            <Link key="report" to="/reports/$id" params={{ id: reportId }}>
              {text.tills.openReport}
            </Link>
          ),
        ],
        [text.tills.id, <code key="id">{till.id}</code>],
      ]}
    />
  );
}

function LastReport() {
  const { money } = useFormats();
  const query = useApi(["reports", "last"], (api) => api.GET("/v2/reports", { params: { query: { size: 1 } } }), {
    refetchMs,
  });
  return (
    <Section className="home-till" title={text.home.lastReport} actions={<CopyRequest url={query.data?.url} />}>
      <Loaded query={query}>
        {({ data: [report] }) =>
          report ? (
            <Facts
              facts={[
                [text.reports.closed, <Moment key="closed" at={report.finalizedAt} />],
                [text.reports.sales, money(report.totalSales)],
                [
                  text.tills.report,
                  <Link key="report" to="/reports/$id" params={{ id: report.id }}>
                    {text.tills.openReport}
                  </Link>,
                ],
              ]}
            />
          ) : (
            <p className="empty">{text.home.noTill}</p>
          )
        }
      </Loaded>
    </Section>
  );
}
