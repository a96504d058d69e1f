import { text } from "../text/text.ts";
import { Badge } from "../ui/badge.tsx";

/** Whether an order counts as a sale, and otherwise why not. */
export function OrderState({ isCanceled, isTransferred }: { isCanceled: boolean; isTransferred: boolean }) {
  if (isCanceled) return <Badge tone="bad">{text.live.states.canceled}</Badge>;
  return isTransferred ? (
    <Badge tone="neutral">{text.live.states.transferred}</Badge>
  ) : (
    <Badge tone="good">{text.orders.sold}</Badge>
  );
}
