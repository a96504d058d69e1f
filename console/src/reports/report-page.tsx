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
import { Table } from "../ui/table.tsx";
import { type Report, ReportTicket } from "./report-ticket.tsx";

const route = getRouteApi("/reports/$id");

/** A report as the ticket that a point of sale prints, beside its orders. */
export function ReportPage() {
  const { id } = route.useParams();
  const query = useApi(["report", id], (api) => api.GET("/v2/reports/{id}", { params: { path: { id } } }));
  const { number } = useFormats();
  const report = query.data?.data;
  return (
    <Page
      title={report ? text.reports.titleOf(number(report.reportNumber)) : text.reports.report}
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
            <ReportTicket report={loaded} />
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

function ReportOrders({ report: { id, orders } }: { report: Report }) {
  const { money, time } = useFormats();
  return (
    <Section
      title={text.reports.orders(orders.length)}
      actions={
        <Link to="/orders" search={{ report: id }}>
          {text.reports.listOrders}
        </Link>
      }
    >
      <Table
        label={text.orders.title}
        rows={orders}
        getKey={(order) => order.id}
        empty={text.orders.empty}
        columns={[
          {
            header: text.orders.table,
            isRowHeader: true,
            cell: (order) => (
              <Link to="/orders/$id" params={{ id: order.id }}>
                {order.tableName ?? text.live.noTable}
              </Link>
            ),
          },
          { header: text.orders.room, isWideOnly: true, cell: ({ roomName }) => roomName ?? "–" },
          { header: text.orders.openedAt, cell: ({ openedAt }) => time(openedAt) },
          { header: text.orders.clerk, isWideOnly: true, cell: ({ operatorName }) => operatorName ?? "–" },
          { header: text.orders.total, isNumeric: true, cell: ({ total }) => money(total) },
        ]}
      />
    </Section>
  );
}
