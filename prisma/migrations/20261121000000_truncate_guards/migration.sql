-- What is never changed is never emptied either.
create trigger auth_use_tr before truncate on auth_use for each statement execute function forbid_mutation();
create trigger chain_tx_tr before truncate on chain_tx for each statement execute function forbid_mutation();
create trigger payment_option_tr before truncate on payment_option for each statement execute function forbid_mutation();
