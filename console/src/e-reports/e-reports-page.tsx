import type { ApiSchemaTypes } from "@pragma/client";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { ExportTabs } from "../exports/export-tabs.tsx";
import { addDays } from "../format/formats.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { CopyRequest } from "../ui/copy-button.tsx";
import { ChoiceField, Filters } from "../ui/fields.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";
import { EReportState } from "./e-report-state.tsx";

const route = getRouteApi("/exports/e-reporting");
const shownDays = 120;

type Period = ApiSchemaTypes["EReportPeriod"];

/** The periods of e-reports of a business: when each is due, and what blocks it. */
export function EReportsPage() {
  const declarants = useApi(["e-report declarants"], (api) =>
    api.GET("/v1/e-reporting/declarants", { params: { query: { size: 100 } } }),
  );
  return (
    <Page title={text.eReports.title} summary={text.eReports.summary}>
      <ExportTabs />
      <Loaded query={declarants}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="empty">{text.eReports.noBusiness}</p>
          ) : (
            <>
              {data
                .filter(({ otherLocationCount }) => otherLocationCount > 0)
                .map(({ siren, companyName, otherLocationCount }) => (
                  <p key={siren} className="notice notice-warning">
                    {text.eReports.otherLocations(otherLocationCount, `${companyName} (${siren})`)}
                  </p>
                ))}
              <Periods
                businesses={Object.fromEntries(
                  data.map(({ siren, companyName }) => [siren, `${companyName} (${siren})`]),
                )}
              />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Periods({ businesses }: { businesses: Record<string, string> }) {
  const { siren = Object.keys(businesses)[0] ?? "", kind = "transactions" } = route.useSearch();
  const navigate = route.useNavigate();
  const { isoDay, dayRange, dayWithYear } = useFormats();
  const today = isoDay(new Date());
  const query = useApi(["e-reports", siren, kind, today], (api) =>
    api.GET("/v1/e-reports", {
      params: { query: { siren, kind, since: addDays(today, -shownDays), until: today } },
    }),
  );
  return (
    <>
      <Filters>
        <ChoiceField
          label={text.eReports.business}
          choices={businesses}
          value={siren}
          onChange={(chosen) => void navigate({ search: { siren: chosen, kind } })}
        />
        <ChoiceField
          label={text.eReports.kind}
          choices={text.eReports.kinds}
          value={kind}
          onChange={(chosen) => void navigate({ search: { siren, kind: chosen } })}
        />
      </Filters>
      <Section title={text.eReports.kinds[kind]} actions={<CopyRequest url={query.data?.url} />}>
        <Loaded query={query}>
          {({ data }) => (
            <Table
              label={text.eReports.kinds[kind]}
              rows={data.toReversed()}
              getKey={({ period }) => period}
              empty={text.eReports.noBlocks}
              columns={[
                {
                  header: text.eReports.period,
                  isRowHeader: true,
                  cell: ({ period, until }) => (
                    <Link to="/exports/e-reporting/$siren/$kind/$period" params={{ siren, kind, period }}>
                      {dayRange(period, until)}
                    </Link>
                  ),
                },
                { header: text.eReports.due, cell: ({ dueOn }) => dayWithYear(dueOn) },
                { header: text.eReports.state, cell: ({ state }) => <EReportState state={state} /> },
                { header: text.eReports.blocked, cell: (period) => <Blocked period={period} />, isWideOnly: true },
              ]}
            />
          )}
        </Loaded>
      </Section>
    </>
  );
}

function Blocked({ period: { openDays, changes } }: { period: Period }) {
  const notEnded = openDays.some(({ state }) => state === "not_ended");
  const unclosed = openDays.filter(({ state }) => state !== "not_ended").length;
  const facts = [
    ...(notEnded ? [text.eReports.notEnded] : []),
    ...(unclosed > 0 ? [text.eReports.openDays(unclosed)] : []),
    ...(changes.length > 0 ? [text.eReports.differences(changes.length)] : []),
  ];
  return facts.length > 0 ? facts.join(" · ") : <span className="muted">–</span>;
}
