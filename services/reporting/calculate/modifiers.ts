import { plus, times } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { type CountedRow, unitsOf } from "./counting.ts";
import { Groups, listed } from "./groups.ts";

type Modifier = ReportV2["reportModifiers"][number];

/** The modifiers of products sold, by group and name: how many products had them, and what they added to sales. */
export function modifiers(rows: CountedRow[]): Modifier[] {
  const groups = new Groups<Modifier>();
  for (const { row } of rows) {
    for (const { modifierGroupName: groupName, name, amount } of row.modifierRowList) {
      const group = groups.of([groupName, name], () => ({ quantity: 0, groupName, amount: 0, name }));
      group.quantity = plus(group.quantity, unitsOf(row));
      group.amount = plus(group.amount, times(amount, row.quantity));
    }
  }
  return listed(groups.all(), (group) => [group.amount]);
}
