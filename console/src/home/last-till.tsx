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
        {({ data: [till] }) =>
          till ? (
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
                  text.tills.report,
                  till.reportState === "done" && till.reportId !== null && (
                    <Link key="report" to="/reports/$id" params={{ id: till.reportId }}>
                      {text.tills.openReport}
                    </Link>
                  ),
                ],
                [text.tills.id, <code key="id">{till.id}</code>],
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
