/** An entity as PostgreSQL gives it: its times are dates, which JSON writes as the contract has them. */
export type Stored<Entity> = {
  [Name in keyof Entity]: Name extends `${string}At` ? Exclude<Entity[Name], string> | Date : Entity[Name];
};

/** A stretch of a list: after a place in its order, or so many items from its start. */
export interface Stretch {
  after: { at: string; id: string } | null;
  offset: number;
  limit: number;
}
