import { Link } from "react-router";
import { Select } from "@/ui/field";
import { useEntities, useSystem } from "./api";

/** Narrows a list to one system. */
export function SystemFilter({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const entities = useEntities();
  const systems = entities.data?.systems ?? [];
  return (
    <Select aria-label="System" className="w-auto! max-w-[220px]" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">All systems</option>
      {value !== "" && !systems.some((each) => each.id === value) ? <option value={value}>{entities.isPending ? "…" : "Unknown system"}</option> : null}
      {systems.map((each) => (
        <option key={each.id} value={each.id}>
          {each.name}
        </option>
      ))}
    </Select>
  );
}

/** The heading of a list that belongs to one system, with the way back to it. */
export function SystemHeading({ systemId, noun }: { systemId: string; noun: string }) {
  const system = useSystem(systemId);
  return (
    <>
      <Link to={`/catalog/system/${systemId}`} className="mb-1.5 inline-flex max-w-full items-center gap-1 text-sm text-ink-3 hover:text-ink">
        <bdi className="truncate">{system.data?.name ?? "System"}</bdi>
      </Link>
      <h1 className="text-xl font-semibold tracking-[-0.01em] break-words">
        {noun}
        {system.data ? " of " : ""}
        <bdi>{system.data?.name}</bdi>
      </h1>
    </>
  );
}
