/** Of all tables of docshelf's, and of pg-boss's (contract, section 10). */
export const SCHEMA_NAME = 'docshelf';
