import { daysTexts } from "./days.ts";
import { eReportTexts } from "./e-reports.ts";
import { exportsTexts } from "./exports.ts";
import { homeTexts } from "./home.ts";
import { keysTexts } from "./keys.ts";
import { metricsTexts } from "./metrics.ts";
import { operatorTexts } from "./operator.ts";
import { ordersTexts } from "./orders.ts";
import { reportsTexts } from "./reports.ts";
import { requestsTexts } from "./requests.ts";
import { sandboxTexts } from "./sandbox.ts";
import { sharedTexts } from "./shared.ts";
import { webhooksTexts } from "./webhooks.ts";

/** All texts of the console in English. A text with a number or a name is a function, so that languages can order words. */
export const en = {
  ...sharedTexts,
  ...homeTexts,
  ...daysTexts,
  ...reportsTexts,
  ...ordersTexts,
  ...metricsTexts,
  ...requestsTexts,
  ...webhooksTexts,
  ...sandboxTexts,
  ...operatorTexts,
  ...keysTexts,
  ...exportsTexts,
  ...eReportTexts,
};
