import { z } from "zod";

/** The point-of-sale applications that record tills. */
export const posApplicationNames = ["POPINA", "JALIA"] as const;

export type PosApplicationName = (typeof posApplicationNames)[number];

/** An application in a query or a response. */
export const posApplicationNameSchema = z
  .enum(posApplicationNames)
  .meta({ description: "Point-of-sale application that the location uses", example: "POPINA" });

/** An application in a request body, in upper or lower case, because existing clients use both. */
export const posApplicationNameInputSchema = z
  .preprocess((value) => (typeof value === "string" ? value.toUpperCase() : value), z.enum(posApplicationNames))
  .meta({
    description: "Point-of-sale application that the location uses, in upper or lower case",
    example: "popina",
    enum: ["popina", "jalia", "POPINA", "JALIA"],
  });
