import { ApiError } from "@pragma/contracts/errors";
import type { RouteInput } from "@pragma/runtime/define-route";
import { readableLocation } from "@pragma/runtime/own-location";
import { type Reply, tagged } from "@pragma/runtime/reply";
import { z } from "zod";
import { findOrder } from "./queries/orders.ts";
import type { Reporting } from "./reporting.ts";

export const orderParams = z.object({ id: z.guid().meta({ description: "Id of the order" }) });

type OrderInput = Pick<
  RouteInput<typeof orderParams, undefined, undefined, Reporting>,
  "params" | "principal" | "services" | "header"
>;

/** Answers one order in the wanted shape; one of another location is not found. */
export async function replyWithOrder(
  { params, principal, services, header }: OrderInput,
  shape: "v1" | "v2",
): Promise<Reply> {
  const order = await findOrder(services.db, { id: params.id, locationId: readableLocation(principal), shape });
  if (!order) throw new ApiError("order_not_found", { detail: `This location has no order ${params.id}.` });
  return tagged(order.body, { etag: order.etag, ifNoneMatch: header("if-none-match") });
}
