import type { ApiSchemaTypes } from "@pragma/client";
import { Link } from "@tanstack/react-router";
import { useApi } from "../api/use-api.ts";
import { text } from "../text/text.ts";
import { Moment } from "../ui/moment.tsx";

type SandboxEvent = ApiSchemaTypes["SandboxEvent"];

export interface ShownEvent {
  event: SandboxEvent;
  /** When the API responded, as an ISO 8601 time. */
  at: string;
}

/** What an event changed, with links to it. */
export const EventResult = ({ event, at }: ShownEvent) => (
  <>
    <p>
      <Moment at={at} isTimeOnly /> {describe(event)}
    </p>
    <p className="actions">
      <ResultLinks event={event} />
    </p>
  </>
);

function describe({ type, failingDeliveries }: SandboxEvent): string {
  const { results } = text.sandbox.events;
  return type === "delivery.failed" ? results[type](failingDeliveries ?? 0) : results[type];
}

function ResultLinks({ event: { type, tillId, orderId, day } }: { event: SandboxEvent }) {
  const { events } = text.sandbox;
  return (
    <>
      {orderId !== null && (
        <Link to="/orders/$id" params={{ id: orderId }} search={{ live: "true" }}>
          {events.openOrder}
        </Link>
      )}
      {type === "till.pushed" && day !== null && tillId !== null && <ReportLink day={day} tillId={tillId} />}
      {day !== null && (
        <Link to="/days/$date" params={{ date: day }}>
          {events.openDay}
        </Link>
      )}
      {type === "order.call" || type === "order.paid" || type === "order.canceled" || type === "order.transferred" ? (
        <Link to="/webhooks/deliveries" search={{ event: type }}>
          {events.openDeliveries}
        </Link>
      ) : (
        <Link to="/webhooks/deliveries">{events.openAllDeliveries}</Link>
      )}
    </>
  );
}

const computingRefetchMs = 1_000;

/** A link to the report of a till, which is computed within seconds. */
function ReportLink({ day, tillId }: { day: string; tillId: string }) {
  const findTill = ({ tills }: Pick<ApiSchemaTypes["Day"], "tills">) => tills.find((till) => till.tillId === tillId);
  const query = useApi(["day", day], (api) => api.GET("/v1/days/{date}", { params: { path: { date: day } } }), {
    refetchMs: (data) => (findTill(data) ? Number.POSITIVE_INFINITY : computingRefetchMs),
  });
  const till = query.data && findTill(query.data.data);
  return till ? (
    <Link to="/reports/$id" params={{ id: till.reportId }}>
      {text.sandbox.events.openReport}
    </Link>
  ) : (
    <span className="muted">{text.sandbox.events.computing}</span>
  );
}
