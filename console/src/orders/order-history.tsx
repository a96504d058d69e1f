import { useMemo } from "react";
import { text } from "../text/text.ts";
import { Moment } from "../ui/moment.tsx";
import { Section } from "../ui/section.tsx";
import { listOrderSteps, type OrderWithTimes } from "./list-order-steps.ts";

/** What happened to the order, oldest first, from the times that the point of sale sent and those of the API. */
export function OrderHistory({ order }: { order: OrderWithTimes }) {
  const steps = useMemo(() => listOrderSteps(order), [order]);
  return (
    <Section title={text.orders.historyTitle}>
      <ol className="timeline">
        {steps.map(({ at, name, clerk }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two payments can have the same time and name.
          <li key={index}>
            <Moment at={at} /> {name}
            {clerk !== null && <span className="muted"> {text.orders.history.by(clerk)}</span>}
          </li>
        ))}
      </ol>
    </Section>
  );
}
