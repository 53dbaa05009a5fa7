import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, useMemo, type ReactNode } from "react";
import { api, call } from "@/api/client";
import { useCan } from "@/app/session";
import { useEntities } from "@/pages/catalog/api";
import type { Names } from "./words";

const Context = createContext<Names>(() => undefined);

/** Knows the names behind ids that the reader may see anyway. */
export function NamesProvider({ children }: { children: ReactNode }) {
  const can = useCan();
  const entities = useEntities(can("catalog.system.read"));
  const strategies = useQuery({
    queryKey: ["healthcheck", "getStrategies"],
    queryFn: () => call(api.GET("/rest/healthcheck/getStrategies")),
    staleTime: 10 * 60_000,
    enabled: can("healthcheck.healthcheck.read"),
  });
  const names = useMemo(() => {
    const known = new Map<string, string>();
    for (const each of entities.data?.systems ?? []) known.set(each.id, each.name);
    for (const each of entities.data?.groups ?? []) known.set(each.id, each.name);
    for (const each of strategies.data?.strategies ?? []) known.set(each.id, each.displayName);
    return (id: string) => known.get(id);
  }, [entities.data, strategies.data]);
  return <Context value={names}>{children}</Context>;
}

export function useNames(): Names {
  return useContext(Context);
}
