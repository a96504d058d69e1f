import type { ApiSchemaTypes } from "@pragma/client";
import type { Formats } from "../format/formats.ts";
import { text } from "../text/text.ts";

type DimensionValues = ApiSchemaTypes["MetricRow"]["dimensions"];
export type DimensionName = ApiSchemaTypes["Metrics"]["dimensions"][number];

/** Returns a value of a dimension in the words of the other views. A value with an ID, such as a product, is its name. */
export function nameDimensionValue(dimension: DimensionName, values: DimensionValues, formats: Formats): string {
  const { none } = text.metrics;
  const { day, week, month, weekday, hour, taxRate, serviceType, room, paymentMethod } = values;
  switch (dimension) {
    case "day":
      return day ? formats.day(day) : none;
    case "week":
      return week ? text.metrics.week(...splitWeek(week)) : none;
    case "month":
      return month ? formats.month(month) : none;
    case "weekday":
      return weekday ? text.metrics.weekdays[weekday] : none;
    case "hour":
      return hour === undefined ? none : `${String(hour).padStart(2, "0")}:00`;
    case "taxRate":
      return typeof taxRate === "number" ? formats.rate(taxRate) : none;
    case "serviceType":
      return serviceType ? text.orders.serviceOf(serviceType) : none;
    case "channel":
      return values.channel === "unknown" ? text.orders.services.unknown : values.channel || none;
    case "room":
      return room?.name ?? (room?.type ? text.reports.roomTypeOf(room.type) : none);
    case "paymentMethod":
      return paymentMethod ? namePaymentMethod(paymentMethod) : none;
    case "discount":
      return nameDiscount(values.discount);
    case "cancellationReason":
      return nameReason(values.cancellationReason);
    case "category":
    case "subcategory":
      return values[dimension] || none;
    case "product":
    case "clerk":
    case "device":
      return values[dimension]?.name || values[dimension]?.id || none;
    case "location":
      return values.location?.id ?? none;
  }
}

/** Returns the year and the number of an ISO week, such as `2026-W22`. */
function splitWeek(week: string): [year: string, number: string] {
  const [year = "", number = ""] = week.split("-W");
  return [year, String(Number(number))];
}

function namePaymentMethod({ name, mode }: NonNullable<DimensionValues["paymentMethod"]>): string {
  if (mode === null) return name ?? text.metrics.none;
  return text.payments.method(name, mode);
}

function nameDiscount(discount: DimensionValues["discount"]): string {
  const name = discount?.name ?? (discount?.gifted ? text.ticket.gift : text.ticket.discount);
  return discount?.gifted && discount.name !== null ? `${name} (${text.metrics.gifted})` : name;
}

function nameReason(reason: DimensionValues["cancellationReason"]): string {
  const name = reason?.name || text.ticket.noReason;
  return reason?.afterFinalization ? `${name} (${text.ticket.afterBill})` : name;
}
