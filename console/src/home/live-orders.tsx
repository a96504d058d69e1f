import type { ApiProblem } from "@pragma/client";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { checkConnection } from "../api/check-connection.ts";
import { useFormats, useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { CopyRequest } from "../ui/copy-button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Progress } from "../ui/loaded.tsx";
import { Section } from "../ui/section.tsx";
import { followLiveOrders, type LiveOrder } from "./follow-live-orders.ts";

interface LiveState {
  orders: ReadonlyMap<string, LiveOrder>;
  /** The orders that changed while the view was open, which are highlighted for a moment. */
  changedId: string | null;
  connection: "connecting" | "live" | "interrupted";
  problem: ApiProblem | null;
}

const noOrders: LiveState = { orders: new Map(), changedId: null, connection: "connecting", problem: null };
/** The most orders that are shown. A restaurant has tens of them at once. */
const shownCount = 12;

function useLiveOrders(): LiveState {
  const { api, apiKey, queryClient, installation, signOut } = useSession();
  const [state, setState] = useState(noOrders);
  useEffect(() => {
    const controller = new AbortController();
    void followLiveOrders(
      { apiUrl: installation.apiUrl, apiKey, signal: controller.signal },
      {
        onOrder: (order, isChange) =>
          setState((current) => ({
            ...current,
            orders: new Map(current.orders).set(order.id, order),
            changedId: isChange ? order.id : current.changedId,
          })),
        onLeft: (orderId) =>
          setState((current) => {
            const orders = new Map(current.orders);
            orders.delete(orderId);
            return { ...current, orders };
          }),
        onReset: () => setState((current) => ({ ...current, orders: new Map() })),
        onReady: () => setState((current) => ({ ...current, connection: "live", problem: null })),
        onInterrupted: (problem) => {
          if (problem?.status === 401) signOut({ kind: "rejected", problem });
          else setState((current) => ({ ...current, connection: "interrupted", problem }));
          // The rest of the view may be outdated, too.
          if (problem === null) void checkConnection({ api, queryClient });
        },
      },
    );
    return () => controller.abort();
  }, [api, apiKey, queryClient, installation, signOut]);
  return state;
}

const connectionTones: Record<LiveState["connection"], Tone> = {
  connecting: "neutral",
  live: "good",
  interrupted: "warning",
};

/** The open orders as they move. */
export function LiveOrders() {
  const { installation } = useSession();
  const { money, number } = useFormats();
  const { orders, changedId, connection, problem } = useLiveOrders();
  const open = [...orders.values()].filter(({ data }) => !data.isPaid && !data.isCanceled && !data.isTransferred);
  const latest = [...orders.values()]
    .sort((one, other) => other.updatedAt.localeCompare(one.updatedAt))
    .slice(0, shownCount);
  return (
    <Section
      className="home-live"
      title={text.live.title}
      actions={
        <>
          <Badge tone={connectionTones[connection]}>{text.live.connections[connection]}</Badge>
          <CopyRequest url={`${installation.apiUrl}/v1/orders-live/stream`} />
        </>
      }
    >
      {problem && <ErrorNotice error={problem} />}
      {connection === "connecting" && <Progress />}
      {connection !== "connecting" && (
        <p className="live-summary">
          {text.live.open(open.length)} · {money(open.reduce((sum, { leftToPay }) => sum + leftToPay, 0))}{" "}
          {text.live.toPay}
        </p>
      )}
      {connection === "live" && latest.length === 0 && <p className="empty">{text.live.empty}</p>}
      <ul className="live-orders">
        {latest.map((order) => (
          <LiveOrderRow key={`${order.id} ${order.revisionHash}`} order={order} isChanged={order.id === changedId} />
        ))}
      </ul>
      {orders.size > shownCount && <p className="muted">{text.live.more(number(orders.size - shownCount))}</p>}
    </Section>
  );
}

function LiveOrderRow({ order, isChanged }: { order: LiveOrder; isChanged: boolean }) {
  const { money, timeWithSeconds } = useFormats();
  const { tableName, roomName, data, total, updatedAt } = order;
  const productCount = data.productRowList.length + data.menuRowList.length;
  const state = findState(data);
  return (
    <li className={isChanged ? "live-order is-changed" : "live-order"}>
      <Link to="/orders/$id" params={{ id: order.id }} search={{ live: "true" }} className="live-order-name">
        {tableName ?? text.live.noTable}
        {roomName && <span className="muted"> {roomName}</span>}
      </Link>
      <Badge tone={stateTones[state]}>{text.live.states[state]}</Badge>
      <span className="muted live-order-detail">
        {text.live.products(productCount)} · {timeWithSeconds(updatedAt)}
      </span>
      <strong className="numeric">{money(total)}</strong>
    </li>
  );
}

type OrderState = "open" | "paid" | "canceled" | "transferred";
const stateTones: Record<OrderState, Tone> = { open: "info", paid: "good", canceled: "bad", transferred: "neutral" };

function findState({ isCanceled, isTransferred, isPaid }: LiveOrder["data"]): OrderState {
  if (isCanceled) return "canceled";
  if (isTransferred) return "transferred";
  return isPaid ? "paid" : "open";
}
