import { demoRestaurant, demoTimeZone } from "./demo-days.ts";
import { type GeneratedTill, generateTill } from "./generate-till.ts";

/** The day of the demo's restaurant that the documentation draws: a Saturday. */
export const drawnDay = "2026-05-30";

/** The till of the demo's restaurant on a day, as the documentation shows it: always the same, whenever it is made. */
export function exampleTill(day: string): GeneratedTill {
  return generateTill({ seed: demoRestaurant, orders: 60, day, timeZone: demoTimeZone });
}
