import type { AdminApiClient } from "@pragma/client/api-client";
import { Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { OrderState } from "../orders/order-state.tsx";
import type { ListedOrder } from "../orders/order-table.tsx";
import { hasAnyScope } from "../session/session.ts";
import { useFormats, useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Section } from "../ui/section.tsx";
import { type Column, Table } from "../ui/table.tsx";
import type { Report } from "./report-ticket.tsx";

const pageSize = 100;
/** A shift has some hundreds of orders at most. The state of later ones is not shown. */
const maxPages = 10;

/** Returns the orders of a report by ID. The report's own list does not state which orders were canceled. */
async function readOrders(
  api: AdminApiClient,
  reportId: string,
): Promise<{ data: ReadonlyMap<string, ListedOrder>; response: Response }> {
  const readPage = (index: number) => api.GET("/v1/orders", { params: { query: { reportId, index, size: pageSize } } });
  const { data: first, response } = await readPage(0);
  const indexes = Array.from({ length: Math.min(first.meta.totalPage, maxPages) }, (_, index) => index).slice(1);
  const later = await Promise.all(indexes.map(readPage));
  const orders = [first, ...later.map(({ data }) => data)].flatMap(({ data }) => data);
  return { data: new Map(orders.map((order) => [order.id, order])), response };
}

/** All orders of a report, also those that are not in its totals, with their states. */
export function ReportOrders({ report: { id, orders, orderCount } }: { report: Report }) {
  const { key } = useSession();
  const { money, time } = useFormats();
  const isReadable = hasAnyScope(key, "orders:read");
  const details = useApi(["report", id, "orders"], (api) => readOrders(api, id), { isEnabled: isReadable });
  const stateColumn: Column<Report["orders"][number]> = {
    header: text.orders.state,
    cell: (order) => {
      const found = details.data?.data.get(order.id);
      return found ? <OrderState isCanceled={found.isCanceled} isTransferred={found.isTransferred} /> : "–";
    },
  };
  return (
    <Section
      title={text.reports.orders(orders.length)}
      actions={
        <Link to="/orders" search={{ report: id }}>
          {text.reports.listOrders}
        </Link>
      }
    >
      {orders.length !== orderCount && (
        <p className="muted">{text.reports.notSold(orderCount, orders.length - orderCount)}</p>
      )}
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
          ...(isReadable ? [stateColumn] : []),
          { header: text.orders.total, isNumeric: true, cell: ({ total }) => money(total) },
        ]}
      />
    </Section>
  );
}
