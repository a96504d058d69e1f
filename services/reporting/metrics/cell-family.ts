import { addMoneyAmounts } from "@pragma/contracts/money";

export type DimensionValue = string | number | boolean | null;

/** The sums of the rows of a till that have the same values of the dimensions of a family. */
interface Cell<Measure extends string> {
  /** From 1. */
  number: number;
  values: readonly DimensionValue[];
  sums: Record<Measure, number>;
}

interface CellFamilyShape<Dimension extends string, Measure extends string> {
  /** What the names of its columns begin with. */
  name: string;
  dimensions: readonly Dimension[];
  measures: readonly Measure[];
  limits: CellLimits;
}

/** How many cells a family of a till has, and how many characters their texts have together. */
export interface CellLimits {
  cells: number;
  textLength: number;
}

/** Cells by the same dimensions, with the columns of `metric_cells` in which they are stored. */
export class CellFamily<Dimension extends string, Measure extends string> {
  readonly #shape: CellFamilyShape<Dimension, Measure>;
  readonly #cells: Cell<Measure>[] = [];
  readonly #cellsByKey = new Map<string, Cell<Measure>>();
  #textLength = 0;

  constructor(shape: CellFamilyShape<Dimension, Measure>) {
    this.#shape = shape;
  }

  /**
   * Returns the cell of these values. Once the family has reached a limit, returns the cell of `otherValues` instead, so
   * that a till with a unique text in each row cannot be large. The caller must pass few different `otherValues`.
   */
  getOrCreate(values: readonly DimensionValue[], otherValues: readonly DimensionValue[]): Cell<Measure> {
    const existing = this.#cellsByKey.get(JSON.stringify(values));
    if (existing) return existing;
    const { cells, textLength } = this.#shape.limits;
    const length = values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0);
    if (this.#cells.length >= cells || this.#textLength + length > textLength)
      return this.#cellsByKey.get(JSON.stringify(otherValues)) ?? this.#create(otherValues);
    this.#textLength += length;
    return this.#create(values);
  }

  #create(values: readonly DimensionValue[]): Cell<Measure> {
    const sums = Object.fromEntries(this.#shape.measures.map((measure) => [measure, 0])) as Record<Measure, number>;
    const cell = { number: this.#cells.length + 1, values, sums };
    this.#cells.push(cell);
    this.#cellsByKey.set(JSON.stringify(values), cell);
    return cell;
  }

  /** Returns the sums of all cells. @throws `AmountOutOfRangeError` when a sum is too large. */
  computeTotals(): Record<Measure, number> {
    const totals = Object.fromEntries(this.#shape.measures.map((measure) => [measure, 0])) as Record<Measure, number>;
    for (const { sums } of this.#cells) addToCell({ sums: totals }, sums);
    return totals;
  }

  /** Returns an array for each column, with one element for each cell. */
  toColumns(): Record<string, DimensionValue[]> {
    const { name, dimensions, measures } = this.#shape;
    return Object.fromEntries([
      ...dimensions.map((dimension, index) => [
        `${name}_${dimension}`,
        this.#cells.map(({ values }) => values[index] ?? null),
      ]),
      ...measures.map((measure) => [`${name}_${measure}`, this.#cells.map(({ sums }) => sums[measure])]),
    ]);
  }
}

/** Adds amounts to the sums of a cell. @throws `AmountOutOfRangeError` when a sum is too large. */
export function addToCell<Measure extends string>(
  { sums }: Pick<Cell<Measure>, "sums">,
  amounts: Partial<Record<Measure, number>>,
): void {
  for (const measure of Object.keys(amounts) as Measure[])
    sums[measure] = addMoneyAmounts(sums[measure], amounts[measure] ?? 0);
}
