import createClient from "openapi-fetch";
import type { paths } from "./schema";
import { errorFromResponse, toApiError } from "./errors";

/** The generated client; every operation of the server is typed by its path. */
export const api = createClient<paths>({ baseUrl: "" });

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** Awaits an operation and returns its output, or throws an ApiError. */
export async function call<T>(pending: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await pending;
  } catch (error) {
    throw toApiError(error);
  }
  if (!answer.response.ok) throw errorFromResponse(answer.response, answer.error);
  return answer.data as T;
}

type Json<R> = R extends { 200: { content: { "application/json": infer T } } } ? T : never;
type Operation<P extends keyof paths, M extends string> = M extends keyof paths[P] ? paths[P][M] : never;

/** Output type of an operation, by path and method. */
export type Output<P extends keyof paths, M extends string> =
  Operation<P, M> extends { responses: infer R } ? Json<R> : never;

/** Input type of an operation with a JSON body, by path and method. */
export type Body<P extends keyof paths, M extends string> =
  Operation<P, M> extends { requestBody?: { content: { "application/json": infer T } } } ? T : never;
