import type { DiscountRow } from "@pragma/contracts/discount-row";
import { roundHalfAway } from "@pragma/contracts/money";
import type { ProductRow } from "@pragma/contracts/product-row";
import type { OrderSetting } from "./order-setting.ts";
import { moment } from "./order-times.ts";
import { priced } from "./product-row.ts";
import type { Discount } from "./restaurant.ts";

interface Given {
  /** Shared by the rows of one discount over several products. */
  groupId?: string;
  /** Validated unless given; others take nothing off. */
  status?: DiscountRow["status"];
}

/** The row with one more discount, and the amounts that follow. */
export function discounted(
  { random, times }: Pick<OrderSetting, "random" | "times">,
  row: ProductRow,
  { id, name, percent }: Discount,
  { groupId, status = "validated" }: Given = {},
): ProductRow {
  const givenAt = times.at(moment.discount);
  const discountRow: DiscountRow = {
    id: random.uuid(),
    recordedAt: givenAt,
    modifiedAt: givenAt,
    amount: roundHalfAway(row.totalRowWithModifier * percent, 100),
    status,
    splitAllowed: true,
    name,
    discountId: id,
    discountGroupId: groupId ?? null,
    extQoodosCheckInId: null,
  };
  const modifiedAt = row.modifiedAt === null || row.modifiedAt < givenAt ? givenAt : row.modifiedAt;
  return priced({ ...row, modifiedAt, discountRowList: [...row.discountRowList, discountRow] });
}
