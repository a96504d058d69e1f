import { z } from "zod";

export const locationParams = z.object({ id: z.guid().meta({ description: "Id of the location" }) });
