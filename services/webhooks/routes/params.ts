import { z } from "zod";

export const recipientParams = z.object({ id: z.guid().meta({ description: "Id of the recipient" }) });

export const webhookParams = z.object({ id: z.guid().meta({ description: "Id of the webhook" }) });

export const deliveryParams = z.object({ id: z.guid().meta({ description: "Id of the delivery" }) });

/** Of lists: whose things. */
export const locationQuery = {
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
};
