interface Figure {
  name: string;
  value: string;
  /** Whether the figure is something that should not be. */
  isBad?: boolean;
}

/** The main figures of a view, each below its name. */
export const Figures = ({ figures }: { figures: readonly Figure[] }) => (
  <dl className="figures">
    {figures.map(({ name, value, isBad = false }) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd className={isBad ? "figure bad" : "figure"}>{value}</dd>
      </div>
    ))}
  </dl>
);
