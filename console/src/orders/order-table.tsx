import type { ApiSchemaTypes } from "@pragma/client";
import { Link } from "@tanstack/react-router";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Moment } from "../ui/moment.tsx";
import { Table } from "../ui/table.tsx";
import { OrderState } from "./order-state.tsx";

export type ListedOrder = ApiSchemaTypes["OrderV1"];

/** Returns the name of a payment's method. Orders that were computed by an earlier version have no payment modes. */
const nameMethod = ({ paymentName, paymentMode }: ListedOrder["payments"][number]): string =>
  paymentMode === undefined ? (paymentName ?? "–") : text.payments.method(paymentName, paymentMode);

export function OrderTable({ orders, empty }: { orders: readonly ListedOrder[]; empty: string }) {
  const { money, number } = useFormats();
  return (
    <Table
      label={text.orders.title}
      rows={orders}
      getKey={({ id }) => id}
      empty={empty}
      columns={[
        {
          header: text.orders.table,
          isRowHeader: true,
          cell: ({ id, orderNumber }) => (
            <Link to="/orders/$id" params={{ id }}>
              {orderNumber ?? text.live.noTable}
            </Link>
          ),
        },
        { header: text.orders.room, isWideOnly: true, cell: ({ orderPlace }) => orderPlace ?? "–" },
        { header: text.orders.openedAt, cell: ({ openedAt }) => <Moment at={openedAt} /> },
        { header: text.orders.guests, isNumeric: true, isWideOnly: true, cell: ({ guests }) => number(guests) },
        { header: text.orders.clerk, isWideOnly: true, cell: ({ operatorName }) => operatorName ?? "–" },
        {
          header: text.orders.payments,
          isWideOnly: true,
          cell: ({ payments }) => [...new Set(payments.map(nameMethod))].join(", ") || "–",
        },
        {
          header: text.orders.state,
          cell: ({ isCanceled, isTransferred }) => <OrderState isCanceled={isCanceled} isTransferred={isTransferred} />,
        },
        { header: text.orders.total, isNumeric: true, cell: ({ total }) => money(total) },
      ]}
    />
  );
}
