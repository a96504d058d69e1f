import { nullOnProblem } from "@pragma/client";
import type { AdminApiClient } from "@pragma/client/api-client";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRef } from "react";
import { useApi } from "../api/use-api.ts";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Moment } from "../ui/moment.tsx";
import { Page } from "../ui/page.tsx";
import { Section } from "../ui/section.tsx";
import { Table } from "../ui/table.tsx";
import type { OrderWithTimes } from "./list-order-steps.ts";
import { OrderHistory } from "./order-history.tsx";
import { type Order, OrderRows } from "./order-rows.tsx";

const route = getRouteApi("/orders/$id");
const refetchMs = 15_000;

interface LoadedOrder {
  data: OrderWithTimes;
  response: Response;
}

async function loadFinishedOrder(api: AdminApiClient, id: string): Promise<LoadedOrder> {
  const { data: order, response } = await api.GET("/v2/orders/{id}", { params: { path: { id } } });
  const { reportId, createdAt: receivedAt, updatedAt: changedAt } = order;
  return { data: { order, reportId, receivedAt, changedAt }, response };
}

async function loadLiveOrder(api: AdminApiClient, id: string): Promise<LoadedOrder> {
  const { data: live, response } = await api.GET("/v1/orders-live/{id}", { params: { path: { id } } });
  const { createdAt: receivedAt, updatedAt: changedAt } = live;
  return { data: { order: live.data, reportId: null, receivedAt, changedAt }, response };
}

/** Returns the order of a closed shift or the live order: the one that is probably there is read first. */
async function loadOrder(api: AdminApiClient, id: string, isProbablyLive: boolean): Promise<LoadedOrder> {
  const [loadFirst, loadOther] = isProbablyLive
    ? [loadLiveOrder, loadFinishedOrder]
    : [loadFinishedOrder, loadLiveOrder];
  return (await nullOnProblem(loadFirst(api, id), "order_not_found")) ?? loadOther(api, id);
}

/** An order with its products, payments and history. */
export function OrderPage() {
  const { id } = route.useParams();
  const { live } = route.useSearch();
  // A request for an order where it is not counts as failed, and the order is read again every few seconds.
  const isProbablyLive = useRef(live === "true");
  const query = useApi(
    ["order", id],
    async (api) => {
      const loaded = await loadOrder(api, id, isProbablyLive.current);
      isProbablyLive.current = loaded.data.reportId === null;
      return loaded;
    },
    { refetchMs },
  );
  const order = query.data?.data.order;
  return (
    <Page
      title={order ? text.orders.titleOf(order.tableName ?? id.slice(0, 8)) : text.orders.order}
      summary={<Link to="/orders">{text.orders.back}</Link>}
      actions={<CopyRequest url={query.data?.url} />}
    >
      <Loaded query={query}>
        {(loaded) => (
          <div className="columns">
            <div>
              <OrderRows order={loaded.order} />
              <OrderPayments order={loaded.order} />
            </div>
            <div>
              <OrderFacts {...loaded} />
              <OrderHistory order={loaded} />
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function OrderFacts({ order, reportId }: OrderWithTimes) {
  const { money, number } = useFormats();
  return (
    <Section title={text.orders.about} actions={reportId === null && <Badge tone="info">{text.orders.live}</Badge>}>
      <Facts
        facts={[
          [text.orders.total, <strong key="total">{money(order.total)}</strong>],
          [text.orders.withoutTax, money(order.totalWithoutTax)],
          [text.orders.tax, money(order.totalTax)],
          [text.orders.discounts, order.totalDiscount !== 0 && money(order.totalDiscount)],
          [text.orders.leftToPay, order.leftToPay !== 0 && money(order.leftToPay)],
          [text.orders.guests, number(order.guestsCount)],
          [text.orders.room, order.roomName],
          [text.orders.clerk, order.operatorName],
          [text.orders.service, text.orders.services[order.serviceType]],
          [text.orders.channel, order.channel === "unknown" ? null : order.channel],
          [text.orders.canceledReason, order.canceledReason],
          [text.orders.transferredTo, order.transferredTo],
          [text.orders.comment, order.comment],
          [
            text.tills.report,
            reportId !== null && (
              <Link key="report" to="/reports/$id" params={{ id: reportId }}>
                {text.tills.openReport}
              </Link>
            ),
          ],
          [text.orders.id, <code key="id">{order.id}</code>],
        ]}
      />
    </Section>
  );
}

function OrderPayments({ order: { paymentRowList } }: { order: Order }) {
  const { money } = useFormats();
  return (
    <Section title={text.orders.payments}>
      <Table
        label={text.orders.payments}
        rows={paymentRowList}
        getKey={({ id }) => id}
        empty={text.orders.noPayments}
        columns={[
          {
            header: text.orders.payment,
            isRowHeader: true,
            cell: ({ name, paymentMode, paymentType, status }) => (
              <>
                {text.payments.method(name, paymentMode)}
                {paymentType !== "payment" &&
                  text.payments.types[paymentType] !== text.payments.modeOf(paymentMode) && (
                    <span className="muted"> {text.payments.types[paymentType]}</span>
                  )}
                {status !== "validated" && (
                  <>
                    {" "}
                    <Badge tone="warning">{text.payments.statusOf(status)}</Badge>
                  </>
                )}
              </>
            ),
          },
          { header: text.orders.at, cell: ({ recordedAt }) => <Moment at={recordedAt} isTimeOnly /> },
          {
            header: text.orders.change,
            isNumeric: true,
            isWideOnly: true,
            cell: ({ changeAmount }) => (changeAmount === 0 ? "–" : money(changeAmount)),
          },
          { header: text.orders.tip, isNumeric: true, cell: ({ tipAmount }) => (tipAmount ? money(tipAmount) : "–") },
          { header: text.orders.amount, isNumeric: true, cell: ({ amount }) => money(amount) },
        ]}
      />
    </Section>
  );
}
