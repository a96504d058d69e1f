/** An entity as PostgreSQL gives it: its times are dates, which JSON writes as the contract has them. */
export type Stored<Entity> = {
  [Name in keyof Entity]: Name extends `${string}At` ? Exclude<Entity[Name], string> | Date : Entity[Name];
};
