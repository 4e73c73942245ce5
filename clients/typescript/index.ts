// dataset-register-client: a typed client of a dataset register.
export { type AnswerCache, type CachedAnswer, memoryCache } from './cache.ts';
export {
  type AttributesOf,
  Dataset,
  type DatasetName,
  type Datasets,
  type FiltersOf,
  type InputOf,
  type RecordOf,
  Search,
  type SearchPage,
} from './dataset.ts';
export {
  ConflictError,
  ConnectionError,
  CredentialError,
  type ErrorBody,
  type ErrorCode,
  InvalidRequestError,
  LimitError,
  NotFoundError,
  PaymentError,
  PlanError,
  RateLimitError,
  RegisterError,
  UnavailableError,
} from './errors.ts';
export type { Answers, AnyRecord, Citation, Inputs, ParameterValue, Provenance } from './operations.ts';
export { type Answer, type OperationName, Register, type SessionCost, type TextFormat } from './register.ts';
export type { CallOptions, PaymentSigner, PaymentTerms, Receipt, RegisterOptions } from './transport.ts';
export { datasetTypes } from './types-of-datasets.ts';
