import { getRouteApi, Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Button } from "../ui/button.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { ReportOrders } from "./report-orders.tsx";
import { type Report, ReportTicket } from "./report-ticket.tsx";

const route = getRouteApi("/reports/$id");

/** A report as the ticket that a point of sale prints, beside its orders. */
export function ReportPage() {
  const { id } = route.useParams();
  const query = useApi(["report", id], (api) => api.GET("/v2/reports/{id}", { params: { path: { id } } }));
  const report = query.data?.data;
  const { isoDay } = useFormats();
  const date = report ? isoDay(new Date(report.startedAt)) : "";
  // The checks of the business day know the expected cash. Without them, the ticket lacks only this line.
  const day = useApi(["day", date], (api) => api.GET("/v1/days/{date}", { params: { path: { date } } }), {
    isEnabled: report !== undefined,
  });
  return (
    <Page
      title={report ? text.reports.titleOf(report.reportNumber) : text.reports.report}
      summary={<Link to="/reports">{text.reports.back}</Link>}
      actions={
        <>
          <Button onPress={() => window.print()} isDisabled={!report}>
            {text.reports.print}
          </Button>
          <CopyRequest url={query.data?.url} />
        </>
      }
    >
      <Loaded query={query}>
        {(loaded) => (
          <div className="report">
            <ReportTicket report={loaded} day={day.data?.data} />
            <div className="report-side">
              <ReportFacts report={loaded} />
              <ReportOrders report={loaded} />
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function ReportFacts({ report }: { report: Report }) {
  const { isoDay, longDay } = useFormats();
  const date = isoDay(new Date(report.startedAt));
  return (
    <Section title={text.reports.about}>
      <Facts
        facts={[
          [
            text.reports.businessDay,
            <Link key="day" to="/days/$date" params={{ date }}>
              {longDay(date)}
            </Link>,
          ],
          [text.reports.device, report.deviceName],
          [text.tills.id, <code key="till">{report.tillId}</code>],
          [text.reports.id, <code key="report">{report.id}</code>],
          [text.reports.version, String(report.reportVersion)],
        ]}
      />
    </Section>
  );
}
