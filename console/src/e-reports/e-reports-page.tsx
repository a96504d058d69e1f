import type { ApiSchemaTypes } from "@pragma/client";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { addDays } from "../format/formats.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { ChoiceField, DayRangeField, Filters } from "../ui/fields.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";
import { EReportState } from "./e-report-state.tsx";
import { SettingsDialog } from "./settings-dialog.tsx";

const route = getRouteApi("/e-reporting");
const shownDays = 120;

type Period = ApiSchemaTypes["EReportPeriod"];
type Declarant = ApiSchemaTypes["EReportDeclarant"];

const nameOf = ({ companyName, siren }: Declarant) => `${companyName} (${siren})`;

/** The periods of e-reports of a business: when each is due, and what blocks it. */
export function EReportsPage() {
  const declarants = useApi(["e-report declarants"], (api) =>
    api.GET("/v1/e-reporting/declarants", { params: { query: { size: 100 } } }),
  );
  const [isSettingUp, setIsSettingUp] = useState(false);
  return (
    <Page
      title={text.eReports.title}
      summary={text.eReports.summary}
      actions={<Button onPress={() => setIsSettingUp(true)}>{text.eReports.setUp}</Button>}
    >
      {isSettingUp && <SettingsDialog onClose={() => setIsSettingUp(false)} />}
      <WrongSirets />
      <Loaded query={declarants}>
        {({ data }) =>
          data.length === 0 ? <p className="empty">{text.eReports.noBusiness}</p> : <Periods declarants={data} />
        }
      </Loaded>
    </Page>
  );
}

/** The wrong SIRETs of tills, or nothing if there are none. */
function WrongSirets() {
  const { dayWithYear } = useFormats();
  const query = useApi(["wrong SIRETs"], (api) => api.GET("/v1/e-reporting/wrong-sirets"));
  const wrong = query.data?.data.data ?? [];
  if (wrong.length === 0) return null;
  return (
    <div className="notice notice-warning">
      <p>{text.eReports.wrongSirets}</p>
      <ul>
        {wrong.map(({ locationId, siret, fault, lastDay }) => (
          <li key={`${locationId} ${siret}`}>
            <code>{siret}</code> ({dayWithYear(lastDay)}): {fault}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Periods({ declarants }: { declarants: Declarant[] }) {
  const search = route.useSearch();
  const { siren = declarants[0]?.siren ?? "", kind = "transactions" } = search;
  const declarant = declarants.find((each) => each.siren === siren);
  const [isChanging, setIsChanging] = useState(false);
  const navigate = route.useNavigate();
  const { isoDay, dateRange, dayWithYear } = useFormats();
  const today = isoDay(new Date());
  const { until = today } = search;
  const { since = addDays(until, -shownDays) } = search;
  const query = useApi(["e-reports", siren, kind, since, until], (api) =>
    api.GET("/v1/e-reports", { params: { query: { siren, kind, since, until } } }),
  );
  return (
    <>
      {declarant && declarant.otherLocationCount > 0 && (
        <p className="notice notice-warning">
          {text.eReports.otherLocations(declarant.otherLocationCount, nameOf(declarant))}
        </p>
      )}
      {declarant && isChanging && <SettingsDialog declarant={declarant} onClose={() => setIsChanging(false)} />}
      <Filters>
        <ChoiceField
          label={text.eReports.business}
          choices={Object.fromEntries(declarants.map((each) => [each.siren, nameOf(each)]))}
          value={siren}
          onChange={(chosen) => void navigate({ search: { ...search, siren: chosen } })}
        />
        <ChoiceField
          label={text.eReports.kind}
          choices={text.eReports.kinds}
          value={kind}
          onChange={(chosen) => void navigate({ search: { ...search, kind: chosen } })}
        />
        <DayRangeField
          since={since}
          until={until}
          onChange={(range) => void navigate({ search: { ...search, ...range } })}
        />
      </Filters>
      <Section
        title={text.eReports.kinds[kind]}
        actions={
          <>
            {declarant && <Button onPress={() => setIsChanging(true)}>{text.eReports.change}</Button>}
            <CopyRequest url={query.data?.url} />
          </>
        }
      >
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
                    <Link to="/e-reporting/$siren/$kind/$period" params={{ siren, kind, period }}>
                      {dateRange(period, until)}
                    </Link>
                  ),
                },
                {
                  header: text.eReports.due,
                  cell: ({ dueOn, state }) => (
                    <>
                      {dayWithYear(dueOn)}{" "}
                      {dueOn < today && isToDo(state) && <Badge tone="bad">{text.eReports.late}</Badge>}
                    </>
                  ),
                },
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

const isToDo = (state: Period["state"]) => state === "ready" || state === "changed";

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
