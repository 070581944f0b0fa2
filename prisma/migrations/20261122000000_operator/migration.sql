-- Why an exception was closed, and since when a key has had too little money for network fees.
alter table exception_record add column resolution text;
alter table signer_nonce add column gas_short_since timestamptz;
